/* SPDX-License-Identifier: MIT */
/* Chunk boundaries of a closed form. The boundaries depend only on N, P and the parameters. A worker that knows its
 * scheduling step i can therefore compute where its chunk starts, without asking another process.
 *
 * If all chunks have one size, the start of a chunk is a product. Otherwise technique->start() returns the start, or
 * the start is computed from a table with the start of every BOUNDS_STRIDE-th chunk. Making the table takes one pass
 * over the chunks. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"

#define BOUNDS_STRIDE 8

struct sched_bounds {
    const struct sched *sched;
    uint64_t count;  /* S: number of chunks */
    uint64_t equal;  /* size of all chunks except the last; 0: the sizes differ */
    uint64_t *table; /* starts of chunks 0, BOUNDS_STRIDE, 2 BOUNDS_STRIDE, ..; owned; NULL: no table is needed */
};

/* The technique must have a closed form, and `sched` must outlive the bounds. Fails if memory runs out or if
 * there are too many chunks for a table. */
int sched_bounds_init(struct sched_bounds *bounds, const struct sched *sched, struct error *error);
void sched_bounds_fini(struct sched_bounds *bounds);

/* Returns the first iteration of chunk `step`, counted from the loop's beginning; N for steps after the last chunk. */
uint64_t sched_bounds_start(const struct sched_bounds *bounds, uint64_t step);

static inline uint64_t sched_bounds_chunk(const struct sched_bounds *bounds, uint64_t step, uint64_t *first)
{
    *first = bounds->equal > 0 ? step * bounds->equal : sched_bounds_start(bounds, step);
    if (step + 1 == bounds->count)
        return bounds->sched->iterations - *first;
    return bounds->equal > 0 ? bounds->equal : sched_at(bounds->sched, step);
}
