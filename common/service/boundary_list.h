/* SPDX-License-Identifier: MIT */
/* In a loop with dependencies: which worker computes the chunk at a boundary.
 *
 * A *boundary* is the border between two adjacent chunks. It is named by the first iteration of the second chunk.
 * Boundary data travel from worker to worker, so the worker of the first chunk must be told which worker has the second
 * chunk. If the process that assigns chunks knows only one of these two workers, it keeps the boundary in one of two
 * lists. The list `ends` has the ends of chunks whose next chunk is not assigned yet. The list `beginnings` has the
 * beginnings of chunks that another process has assigned. This process will assign the chunk before such a chunk, but
 * has not assigned it yet. Both lists stay short: chunks are assigned in ascending order. If adjacent chunks have the
 * same worker, only the end of the last one is kept. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct boundary_side {
    uint64_t first;
    /* In the list `ends` of struct service_order: index of the worker that has the chunk before the boundary. In the
     * list `beginnings`: rank of the worker that has the chunk after the boundary. */
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
