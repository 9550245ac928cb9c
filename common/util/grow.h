/* SPDX-License-Identifier: MIT */
/* Arrays that grow as items are appended. */
#pragma once

#include <stddef.h>

/* Room for one more item behind the first `count` of `items`, which has room for *capacity of `size` bytes each; NULL
 * with none. Returns the array, perhaps elsewhere; NULL when memory is out, and all is as it was. */
void *grow(void *items, size_t count, size_t *capacity, size_t size);
