/* SPDX-License-Identifier: MIT */
/* Twice the room each time, so that appending takes constant time on average. */
#include "common/util/grow.h"

#include <stdlib.h>

#define LEAST 8

void *grow(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    size_t larger = *capacity > 0 ? 2 * *capacity : LEAST;
    void *grown = realloc(items, larger * size);
    if (grown != NULL)
        *capacity = larger;
    return grown;
}
