/* SPDX-License-Identifier: MIT */
/* A cache of launchers' versions, in the user's cache folder.
 *
 * The key is path, size and time of change. Only binary programs are cached, because a script may call another version
 * without a change of its own. Errors of the cache are ignored. */
#pragma once

#include <stdbool.h>

enum { VERSION_TEXT_MAX = 160 };

bool version_cache_find(const char *path, char text[VERSION_TEXT_MAX]);

void version_cache_keep(const char *path, const char *text);
