/* SPDX-License-Identifier: MIT */
/* Precedence: a partial order of the iterations of a loop. It is given by pairs of iterations, of which the first waits
 * for the second. Pairs are added in any order. After precedence_close(), the set lists for each iteration the
 * iterations that wait for it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct precedence_pair {
    uint64_t iteration, other;
};

struct precedence {
    /* [pair_count] the pairs until precedence_close(). All arrays of this structure are owned. */
    struct precedence_pair *pairs;
    size_t pair_count, pair_capacity;
    uint64_t count;
    /* [count + 1] for each iteration, the index in `waiting` at which the iterations that wait for it begin */
    uint64_t *begin;
    uint64_t *waiting;
};

void precedence_init(struct precedence *precedence);
void precedence_fini(struct precedence *precedence);

int precedence_add(struct precedence *precedence, uint64_t iteration, uint64_t other);

int precedence_close(struct precedence *precedence, uint64_t count);

/* Searches a closed set for a cycle. Writes the iterations of the cycle to `*circle`, which the caller frees: each of
 * them waits for the next, and the last waits for the first. Returns the length of the cycle; 0: there is none; -1: out
 * of memory. */
int64_t precedence_find_circle(const struct precedence *precedence, uint64_t **circle);
