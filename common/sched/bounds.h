/* SPDX-License-Identifier: MIT */
/* The places of the chunks of a closed form: every boundary is fixed by N, P and the parameters alone, so that a worker
 * that has drawn scheduling step i knows where its chunk starts, with nobody asked.
 *
 * Where the technique has a formula for the start (technique->start) there is no table; else a table with the start of
 * every BOUNDS_STRIDE-th chunk, made in one pass over the chunks. Chunks of one size take neither: a product. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"

#define BOUNDS_STRIDE 8

struct sched_bounds {
    const struct sched *sched; /* borrowed */
    uint64_t count;            /* S, chunks of the loop */
    uint64_t equal;            /* the size of every chunk but the last; 0: they differ */
    uint64_t *table;           /* starts of chunks 0, BOUNDS_STRIDE, ...; owned; NULL where it takes none */
};

/* Only for a technique with a closed form; `sched` must outlive the bounds. -1 with one line when memory is out or the
 * chunks are too many for a table. */
int sched_bounds_init(struct sched_bounds *bounds, const struct sched *sched, struct error *error);
void sched_bounds_fini(struct sched_bounds *bounds);

/* First iteration of chunk `step` (from 0), counted from the loop's beginning; N from the last chunk on. */
uint64_t sched_bounds_start(const struct sched_bounds *bounds, uint64_t step);

/* Chunk `step`, below S: `*first` as by sched_bounds_start(). Returns its size; the last one is what is left. */
static inline uint64_t sched_bounds_chunk(const struct sched_bounds *bounds, uint64_t step, uint64_t *first)
{
    *first = bounds->equal > 0 ? step * bounds->equal : sched_bounds_start(bounds, step);
    if (step + 1 == bounds->count)
        return bounds->sched->iterations - *first;
    return bounds->equal > 0 ? bounds->equal : sched_at(bounds->sched, step);
}
