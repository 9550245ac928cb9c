/* SPDX-License-Identifier: MIT */
/* A queue of numbered items: a treap ordered by position. All operations take O(log n). The items are waiting workers.
 * Each item has a time and a mark. An item is *able* if it is marked: the worker is idle and can be given a chunk. The
 * rope finds the first able item, and the able item with the least time. Only rope_reserve() allocates memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ROPE_NONE (~0u)

struct rope_node {
    unsigned left, right, parent;
    unsigned size; /* number of items in the subtree of this item; 0: the item is not in the queue */
    unsigned able;
    bool is_able;
    double time_s;
    double least_s; /* least time of the items in this subtree that are able (see above); INFINITY: no item is able */
};

struct rope {
    struct rope_node *nodes;
    size_t room;
    unsigned root;
};

void rope_init(struct rope *rope);
void rope_fini(struct rope *rope);

int rope_reserve(struct rope *rope, size_t room);

void rope_clear(struct rope *rope);

unsigned rope_length(const struct rope *rope);
static inline bool rope_has(const struct rope *rope, unsigned item)
{
    return rope->nodes[item].size > 0;
}

/* Appends an item that is not in the queue. The item becomes able only by rope_mark(). */
void rope_push(struct rope *rope, unsigned item);

unsigned rope_at(const struct rope *rope, unsigned place);

/* rope_front() returns the first item; rope_pop() returns it and removes it. The queue must not be empty. */
unsigned rope_front(const struct rope *rope);
unsigned rope_pop(struct rope *rope);
void rope_remove(struct rope *rope, unsigned item);

void rope_mark(struct rope *rope, unsigned item, bool is_able, double time_s);

/* Moves the first `count` items to the end of the queue, in the same order. */
void rope_turn(struct rope *rope, unsigned count);

/* Returns how many items come before the next able item, from position `place` on. If there is no able item from this
 * position on, counts all items from there. */
unsigned rope_before_able(const struct rope *rope, unsigned place);

/* Swaps two items: the first one, and the able item with the least time. Does nothing if no item is able. */
void rope_bring_least(struct rope *rope);

void rope_check(const struct rope *rope);
