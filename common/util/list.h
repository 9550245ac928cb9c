/* SPDX-License-Identifier: MIT */
/* Comma-separated lists in options. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Copies the next word, truncated to `size` bytes, and advances *list; after the last word *list is NULL. Returns
 * false if *list is NULL. An empty list is one empty word. */
bool list_next(const char **list, char *word, size_t size);

size_t list_count(const char *list);
