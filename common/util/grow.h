/* SPDX-License-Identifier: MIT */
/* Growing arrays. */
#pragma once

#include <stddef.h>

/* Makes room for one more item after the first `count` items of the array `items`, which is NULL at first. The array
 * has room for *capacity items of `size` bytes. Returns the array, which may have moved. Returns NULL, and changes
 * nothing, if memory runs out. */
void *grow(void *items, size_t count, size_t *capacity, size_t size);

/* Enlarges an array from `before` to `now` items of `size` bytes; new items are zero. `array` is the address of the
 * caller's pointer to the first item. Returns -1, and changes nothing, if memory runs out. */
int grow_to(void *array, size_t before, size_t now, size_t size);
