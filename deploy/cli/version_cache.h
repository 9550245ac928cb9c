/* SPDX-License-Identifier: MIT */
/* A cache of launchers' versions, kept in the user's cache folder.
 *
 * A program is known by its path, size and time of change. Only programs are kept, no scripts: whom a script calls can
 * change while the script does not. A cache that cannot be read or written is as good as none. */
#pragma once

#include <stdbool.h>

enum { VERSION_TEXT_MAX = 160 };

/* The text of the program at `path`, which is absolute. False where nothing is. */
bool version_cache_find(const char *path, char text[VERSION_TEXT_MAX]);

/* Keeps the beginning of what it printed. */
void version_cache_keep(const char *path, const char *text);
