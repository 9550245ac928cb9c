/* SPDX-License-Identifier: MIT */
/* A heap in an array of the caller. No item precedes its parent, so the first item of the order has index 0. The
 * children of index i are arity * i + 1 and the next arity - 1. All functions are inline, so that the compiler makes a
 * variant for the item size, arity and comparison of each heap. The order of equal items depends on the arity. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define HEAP_ITEM_MAX 64 /* in bytes */

#define HEAP_INLINE static inline __attribute__((always_inline))

typedef bool heap_before(const void *item, const void *other, const void *context);

struct heap_kind {
    size_t bytes;
    size_t arity;
    heap_before *before;
};

HEAP_INLINE void heap_sift_up(const struct heap_kind *kind, const void *context, void *items, size_t place)
{
    unsigned char *at = items, moving[HEAP_ITEM_MAX];
    assert(kind->bytes <= HEAP_ITEM_MAX);
    memcpy(moving, at + place * kind->bytes, kind->bytes);
    for (size_t above; place > 0; place = above) {
        above = (place - 1) / kind->arity;
        if (!kind->before(moving, at + above * kind->bytes, context))
            break;
        memcpy(at + place * kind->bytes, at + above * kind->bytes, kind->bytes);
    }
    memcpy(at + place * kind->bytes, moving, kind->bytes);
}

HEAP_INLINE void heap_sift_down(const struct heap_kind *kind, const void *context, void *items, size_t count,
                                size_t place)
{
    unsigned char *at = items, moving[HEAP_ITEM_MAX];
    assert(kind->bytes <= HEAP_ITEM_MAX && place < count);
    memcpy(moving, at + place * kind->bytes, kind->bytes);
    for (size_t first; (first = kind->arity * place + 1) < count;) {
        size_t end = first + kind->arity < count ? first + kind->arity : count, least = first;
        for (size_t child = first + 1; child < end; child++)
            if (kind->before(at + child * kind->bytes, at + least * kind->bytes, context))
                least = child;
        if (!kind->before(at + least * kind->bytes, moving, context))
            break;
        memcpy(at + place * kind->bytes, at + least * kind->bytes, kind->bytes);
        place = least;
    }
    memcpy(at + place * kind->bytes, moving, kind->bytes);
}
