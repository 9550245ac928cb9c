/* SPDX-License-Identifier: MIT */
/* A line of numbered items that is turned, searched and cut in O(log n): a treap by place in the line, whose nodes are
 * the items themselves. Some items are marked as able, each with a time: the first of them is found, and the one with
 * the least time. Nothing is allocated but by rope_reserve(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ROPE_NONE (~0u)

struct rope_node {
    unsigned left, right, parent;
    unsigned size; /* items in this subtree; 0: the item is not in the line */
    unsigned able; /* able ones among them */
    bool is_able;
    double time_s;  /* of the item itself */
    double least_s; /* the least of the able ones in this subtree; INFINITY: there is none */
};

struct rope {
    struct rope_node *nodes; /* [room]; owned */
    size_t room;
    unsigned root;
};

/* An empty line without room. */
void rope_init(struct rope *rope);
void rope_fini(struct rope *rope);

/* Makes room for items below `room`. -1 when memory is out (nothing changed). */
int rope_reserve(struct rope *rope, size_t room);

/* Takes all items out. */
void rope_clear(struct rope *rope);

unsigned rope_length(const struct rope *rope);
static inline bool rope_has(const struct rope *rope, unsigned item)
{
    return rope->nodes[item].size > 0;
}

/* Adds an item, which is not in the line, at its end; it is not able. */
void rope_push(struct rope *rope, unsigned item);

/* The first item of a line that is not empty; and takes it out. */
unsigned rope_front(const struct rope *rope);
unsigned rope_pop(struct rope *rope);
void rope_remove(struct rope *rope, unsigned item);

/* Says whether an item of the line is able, and its time. */
void rope_mark(struct rope *rope, unsigned item, bool is_able, double time_s);

/* Moves the first `count` items, no more than there are, behind the others, in their order. */
void rope_turn(struct rope *rope, unsigned count);

/* Items before the first that is able; all of them where none is. */
unsigned rope_before_able(const struct rope *rope);

/* Lets the first item and the able one with the least time, of several the first, change places; where none is able
 * nothing happens. */
void rope_bring_least(struct rope *rope);

/* Stops the program where an invariant of the line does not hold. */
void rope_check(const struct rope *rope);
