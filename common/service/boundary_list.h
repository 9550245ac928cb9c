/* SPDX-License-Identifier: MIT */
/* Which worker computes the chunk next to each boundary, in a loop with dependencies.
 *
 * A *boundary* is the place between two adjacent chunks; its name is the first iteration of the second chunk. Boundary
 * data travel from worker to worker, so the worker before a boundary must be told which worker comes after it. The
 * process that assigns chunks keeps two lists of boundaries of which it knows only one side: ends of chunks whose next
 * chunk is not assigned yet, and beginnings that another process announced before the chunk in front was assigned. Both
 * lists stay short: chunks are assigned in ascending order, so of adjacent chunks of one owner only the last boundary
 * is kept. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct boundary_side {
    uint64_t first;
    /* In `ends` of struct service_order the index of the worker that has the chunk before the boundary, in `beginnings`
     * the rank of the worker that has the chunk after it. */
    unsigned who;
};

/* In any order; each boundary at most once. */
struct boundary_list {
    struct boundary_side *list;
    size_t count, capacity;
};

void boundary_list_fini(struct boundary_list *boundaries);

int boundary_list_add(struct boundary_list *boundaries, uint64_t first, unsigned who);

/* Removes the boundary and sets `*who` to its worker. Returns false if it is not in the list. */
bool boundary_list_take(struct boundary_list *boundaries, uint64_t first, unsigned *who);

bool boundary_list_has(const struct boundary_list *boundaries, uint64_t first);

bool boundary_list_move_last(struct boundary_list *boundaries, uint64_t from, uint64_t first, unsigned who);

void boundary_list_check(const struct boundary_list *boundaries);
