/* SPDX-License-Identifier: MIT */
/* Which worker computes the chunk next to each boundary, in a loop with dependencies.
 *
 * A *boundary* is the border between two adjacent chunks, and is named by the first iteration of the second chunk.
 * Boundary data travel from worker to worker, so the worker of the first chunk must be told which worker has the second
 * chunk. The process that assigns chunks keeps two lists of boundaries of which it knows only one worker: the ends of
 * chunks whose next chunk is not assigned yet, and the beginnings of chunks that another process assigned before the
 * chunk in front of them was assigned. Both lists stay short: chunks are assigned in ascending order, so of adjacent
 * chunks with the same worker only the last end is kept. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct boundary_side {
    uint64_t first;
    /* In `ends` of struct service_order: index of the worker that has the chunk before the boundary. In `beginnings`:
     * rank of the worker that has the chunk after the boundary. */
    unsigned who;
};

/* A set of boundaries, in no order. */
struct boundary_list {
    struct boundary_side *list;
    size_t count, capacity;
};

void boundary_list_fini(struct boundary_list *boundaries);

int boundary_list_add(struct boundary_list *boundaries, uint64_t first, unsigned who);

/* Removes the boundary `first` and sets `*who` to its worker. Returns false if the boundary is not in the list. */
bool boundary_list_take(struct boundary_list *boundaries, uint64_t first, unsigned *who);

bool boundary_list_has(const struct boundary_list *boundaries, uint64_t first);

bool boundary_list_move_last(struct boundary_list *boundaries, uint64_t from, uint64_t first, unsigned who);

void boundary_list_check(const struct boundary_list *boundaries);
