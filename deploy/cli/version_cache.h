/* SPDX-License-Identifier: MIT */
/* A cache of launchers' versions, in the user's cache folder.
 *
 * The key is path, size and time of change. Only binary programs are cached: a script does not change if what it
 * calls does. Errors of the cache are ignored. */
#pragma once

#include <stdbool.h>

enum { VERSION_TEXT_MAX = 160 };

/* Finds the text of the program with this absolute path. Returns false if it is not there. */
bool version_cache_find(const char *path, char text[VERSION_TEXT_MAX]);

void version_cache_keep(const char *path, const char *text);
