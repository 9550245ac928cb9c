/* SPDX-License-Identifier: MIT */
/* Comma-separated lists in options. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Copies the next word of the list, truncated to `size` bytes, and moves *list behind this word. After the last word
 * *list becomes NULL. Returns false if *list is NULL already. An empty list contains one empty word. */
bool list_next(const char **list, char *word, size_t size);

size_t list_count(const char *list);
