/* SPDX-License-Identifier: MIT */
/* A set of iterations, as sorted half-open ranges [first, first + count) with gaps between them.
 *
 * Taking from the front and adding at the end are O(1). Other changes need O(log n) to search and O(n) to move items; n
 * is the number of ranges. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    uint64_t first;
    uint64_t count;
};

struct ranges {
    struct range *items; /* the items in use are items[head] .. items[head + length - 1]; owned */
    size_t head;
    size_t length;
    size_t capacity;
    uint64_t total;
};

void ranges_init(struct ranges *set);
void ranges_fini(struct ranges *set);

int ranges_reserve(struct ranges *set, size_t count);

static inline void ranges_clear(struct ranges *set)
{
    set->head = set->length = 0;
    set->total = 0;
}

/* Adds [first, first + count); some of these iterations may be in the set already. Sets `*added` (unless it is NULL) to
 * the number of new iterations. Returns -1, and leaves the set unchanged, if memory runs out. */
int ranges_add(struct ranges *set, uint64_t first, uint64_t count, uint64_t *added);

/* Removes those iterations of [first, first + count) that are in the set. Sets `*removed` (unless it is NULL) to their
 * number. Needs memory if it splits a range. If memory runs out, returns -1 and leaves the set unchanged. */
int ranges_remove(struct ranges *set, uint64_t first, uint64_t count, uint64_t *removed);

/* Takes at most `want` iterations from the front, as one range. Returns false if the set is empty or `want` is 0. */
bool ranges_take(struct ranges *set, uint64_t want, struct range *taken);

bool ranges_contains(const struct ranges *set, uint64_t iteration);

/* `count` must be at least 1. */
bool ranges_covers(const struct ranges *set, uint64_t first, uint64_t count);

bool ranges_overlap(const struct ranges *set, uint64_t first, uint64_t count);

void ranges_check(const struct ranges *set);

static inline uint64_t ranges_total(const struct ranges *set)
{
    return set->total;
}

static inline size_t ranges_length(const struct ranges *set)
{
    return set->length;
}

/* Requires i < ranges_length(). The returned range is valid until the set changes. */
static inline const struct range *ranges_at(const struct ranges *set, size_t i)
{
    return &set->items[set->head + i];
}
