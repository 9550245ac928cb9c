/* SPDX-License-Identifier: MIT */
/* Lists of words with commas between them, as options take them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The next word of a list, cut where it does not fit in `size` bytes. Moves *list on, to NULL behind the last word;
 * false where it is NULL. An empty list is one empty word. */
bool list_next(const char **list, char *word, size_t size);

/* Returns how many words list_next() gives. */
size_t list_count(const char *list);
