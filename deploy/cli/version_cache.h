/* SPDX-License-Identifier: MIT */
/* A cache of launchers' versions in the user's cache folder.
 *
 * The key is path, size and time of change. Only binary programs are cached: a script stays the same if what it calls
 * changes. Errors of the cache are ignored. */
#pragma once

#include <stdbool.h>

enum { VERSION_TEXT_MAX = 160 };

/* Finds the text of a program, given by its absolute path. False if absent. */
bool version_cache_find(const char *path, char text[VERSION_TEXT_MAX]);

/* Stores the beginning of its output. */
void version_cache_keep(const char *path, const char *text);
