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
    struct precedence_pair *pairs; /* [pair_count] until precedence_close(). All arrays of this structure are owned. */
    size_t pair_count, pair_capacity;
    uint64_t count;
    uint64_t *begin; /* [count + 1] index in `waiting` of the first iteration that waits for this iteration */
    uint64_t *waiting;
};

void precedence_init(struct precedence *precedence);
void precedence_fini(struct precedence *precedence);

int precedence_add(struct precedence *precedence, uint64_t iteration, uint64_t other);

int precedence_close(struct precedence *precedence, uint64_t count);

/* Searches a closed set for a cycle, and writes it to `*circle`, which the caller frees. Each iteration in `*circle`
 * waits for the next, and the last waits for the first. Returns the length of the cycle; 0: none; -1: out of memory. */
int64_t precedence_find_circle(const struct precedence *precedence, uint64_t **circle);
