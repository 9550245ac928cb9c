/* SPDX-License-Identifier: MIT */
/* A heap in an array of the caller's: no item comes before the one above it, so the first of all stands at place 0.
 * Below the item at place i stand those at arity * i + 1 and the arity - 1 places behind it. All is inline, so that
 * with a constant size, arity and comparison each heap is compiled for its own items. Where items come at one time and
 * the comparison does not tell them apart, their order depends on the arity. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define HEAP_ITEM_MAX 64 /* bytes */

#define HEAP_INLINE static inline __attribute__((always_inline))

typedef bool heap_before(const void *item, const void *other, const void *context);

struct heap_kind {
    size_t bytes; /* bytes of an item, at most HEAP_ITEM_MAX */
    size_t arity; /* at least 2 */
    heap_before *before;
};

/* The item at `place` may come before those above it: it rises. */
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

/* The item at `place`, of `count` items, may come after those below it: it sinks. */
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
