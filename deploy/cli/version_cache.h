/* SPDX-License-Identifier: MIT */
/* A cache of launchers' versions, in the user's cache folder.
 *
 * An entry is found by path, size and time of change of the launcher. Only binary programs are cached: a script may
 * call another launcher, whose version can change while the script stays the same. Errors of the cache are ignored. */
#pragma once

#include <stdbool.h>

enum { VERSION_TEXT_MAX = 160 };

bool version_cache_find(const char *path, char text[VERSION_TEXT_MAX]);

void version_cache_keep(const char *path, const char *text);
