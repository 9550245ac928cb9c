/* SPDX-License-Identifier: MIT */
/* Who computes the chunk behind which: the account of a loop with dependencies.
 *
 * A *seam* is where one chunk ends and the next begins; it is named by the first iteration of the latter. The data that
 * go over it travel from worker to worker, so that the worker before it must be told who is behind it. Whoever assigns
 * chunks knows the worker that had the chunk before (the previous owner) and the one that gets the next (the current
 * owner), and keeps here what is known of one side only: ends whose chunk behind them is not assigned yet, and
 * beginnings that were told from elsewhere before the chunk in front of them was assigned.
 *
 * Both lists are short: chunks are assigned in ascending order, so that of the seams between the chunks of one owner
 * none is left here but the last. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct half_seam {
    uint64_t first; /* of the chunk behind it */
    unsigned who;   /* has the chunk before it, or behind it: as the list says */
};

/* Seams in any order, each at most once. */
struct seams {
    struct half_seam *list; /* owned */
    size_t count, capacity;
};

void seams_fini(struct seams *seams);

/* -1 when memory is out. */
int seams_add(struct seams *seams, uint64_t first, unsigned who);

/* Takes the seam away, and whose it is; false where it is not there. */
bool seams_take(struct seams *seams, uint64_t first, unsigned *who);

bool seams_have(const struct seams *seams, uint64_t first);

/* The seam that was added last lies at `first` now; false, and nothing happens, where it is not `who`'s or did not lie
 * at `from`. */
bool seams_move_last(struct seams *seams, uint64_t from, uint64_t first, unsigned who);

/* Stops the program where a seam is in the list twice. */
void seams_check(const struct seams *seams);
