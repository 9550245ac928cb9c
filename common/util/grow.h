/* SPDX-License-Identifier: MIT */
/* Arrays that grow as items are appended. */
#pragma once

#include <stddef.h>

/* Room for one more item behind the first `count` of `items`, which has room for *capacity of `size` bytes each; NULL
 * with none. Returns the array, perhaps elsewhere; NULL when memory is out, and all is as it was. */
void *grow(void *items, size_t count, size_t *capacity, size_t size);

/* Makes an array of `before` items of `size` bytes one of `now`, no fewer; the new ones are zero. `array` is the
 * address of the pointer to its first item, of whatever type. -1 when memory is out, and all is as it was. */
int grow_to(void *array, size_t before, size_t now, size_t size);
