/* SPDX-License-Identifier: MIT */
/* Growing arrays. */
#pragma once

#include <stddef.h>

/* Makes room for one more item after the first `count` of `items` (NULL: none), which have room for *capacity items
 * of `size` bytes. Returns the array, which may have moved; NULL if memory runs out, and nothing has changed. */
void *grow(void *items, size_t count, size_t *capacity, size_t size);

/* Enlarges an array from `before` to `now` items of `size` bytes; new items are zero. `array` points to the pointer
 * to the first item, of any type. -1: out of memory, and nothing has changed. */
int grow_to(void *array, size_t before, size_t now, size_t size);
