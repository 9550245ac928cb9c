/* SPDX-License-Identifier: MIT */
/* Precedence: which iterations of a loop wait for others, a partial order. Pairs are added in any order, then the set
 * is closed: from then on it tells who waits for an iteration, and does not change. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Iteration `iteration` waits for iteration `other`. */
struct precedence_pair {
    uint64_t iteration, other;
};

struct precedence {
    struct precedence_pair *pairs; /* [pair_count] until it is closed; owned, as all that follows */
    size_t pair_count, pair_capacity;
    uint64_t count;    /* iterations 0 .. count - 1; 0: it is not closed */
    uint64_t *begin;   /* [count + 1] place of the first who waits for an iteration in `waiting` */
    uint64_t *waiting; /* [begin[count]] iterations, those that wait for the same one after another */
};

void precedence_init(struct precedence *precedence);
void precedence_fini(struct precedence *precedence);

/* -1 when memory is out (nothing changed). */
int precedence_add(struct precedence *precedence, uint64_t iteration, uint64_t other);

/* Closes a set of pairs of iterations below `count`. -1 when memory is out. */
int precedence_close(struct precedence *precedence, uint64_t count);

/* Looks, in a closed set, for iterations that wait for one another in a circle: `*circle`, the caller's to free, has
 * them in such an order that each waits for the next, and the last one for the first. Returns how many; 0: there is
 * none; -1 when memory is out. */
int64_t precedence_find_circle(const struct precedence *precedence, uint64_t **circle);
