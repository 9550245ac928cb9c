/* SPDX-License-Identifier: MIT */
/* Growing arrays: see grow.h. Doubling their size makes appending take amortized constant time. */
#include "common/util/grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

int grow_to(void *array, size_t before, size_t now, size_t size)
{
    void *items;
    size_t bytes = (now > 0 ? now : 1) * size, room = size;
    while (before > 0 && room < bytes && room <= SIZE_MAX / 2)
        room *= 2;
    memcpy(&items, array, sizeof items);
    /* realloc() does nothing if the array has that much memory already */
    char *larger = realloc(items, room < bytes ? bytes : room);
    if (larger == NULL)
        return -1;
    memset(larger + before * size, 0, (now - before) * size);
    memcpy(array, &larger, sizeof larger);
    return 0;
}
