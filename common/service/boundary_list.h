/* SPDX-License-Identifier: MIT */
/* The worker that computes the chunk behind each boundary: the account of a loop with dependencies.
 *
 * A *boundary* is where one chunk ends and the next begins; it is named by the first iteration of the latter. The data
 * that go over it travel from worker to worker, so that the worker before it must be told who is behind it. Whoever
 * assigns chunks knows the worker that had the chunk before (the previous owner) and the one that gets the next (the
 * current owner), and keeps here what is known of one side only: ends whose chunk behind them is not assigned yet, and
 * beginnings that were told from elsewhere before the chunk in front of them was assigned.
 *
 * Both lists are short: chunks are assigned in ascending order, so that of the boundaries between the chunks of one
 * owner none is left here but the last. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct boundary_side {
    uint64_t first; /* iteration at which the chunk behind the boundary begins */
    unsigned who;   /* worker or rank that has the chunk before the boundary, or behind it: each list says which */
};

/* Boundaries in any order, each at most once. */
struct boundary_list {
    struct boundary_side *list; /* owned */
    size_t count, capacity;
};

void boundary_list_fini(struct boundary_list *boundaries);

/* -1 when memory is out. */
int boundary_list_add(struct boundary_list *boundaries, uint64_t first, unsigned who);

/* Takes the boundary away, and whose it is; false where it is not there. */
bool boundary_list_take(struct boundary_list *boundaries, uint64_t first, unsigned *who);

bool boundary_list_has(const struct boundary_list *boundaries, uint64_t first);

/* The boundary that was added last lies at `first` now; false, and nothing happens, where it is not `who`'s or did not
 * lie at `from`. */
bool boundary_list_move_last(struct boundary_list *boundaries, uint64_t from, uint64_t first, unsigned who);

/* Stops the program where a boundary is in the list twice. */
void boundary_list_check(const struct boundary_list *boundaries);
