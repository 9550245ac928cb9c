/* SPDX-License-Identifier: MIT */
/* The boundaries of the chunks: see bounds.h. */
#include "common/sched/bounds.h"

#include <inttypes.h>
#include <stdlib.h>

/* A table is made for at most this many chunks. A table of this size has 64 MiB and is computed in about a second.
 * Only loops such as 2^40 iterations on a million workers exceed this limit. For such loops a technique with equal
 * chunks is better. */
#define CHUNKS_MAX (UINT64_C(1) << 26)

#define TABLE_MIN 64

static bool takes_table(const struct sched *sched)
{
    return sched->technique->start == NULL || sched->technique->start(sched, 0) == SCHED_NO_START;
}

static uint64_t count_by_start(const struct sched *sched)
{
    uint64_t low = 0, high = sched->iterations;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (sched->technique->start(sched, middle) < sched->iterations)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the common size of all chunks except the last one, or 0 if the sizes differ. Only for techniques with
 * start(). The chunk sizes of such a technique only grow or only shrink, so they are equal if the first chunk and
 * the last but one are equal. */
static uint64_t equal_size(const struct sched_bounds *bounds)
{
    if (bounds->count < 2)
        return bounds->sched->iterations;
    uint64_t first = sched_at(bounds->sched, 0);
    return first == sched_at(bounds->sched, bounds->count - 2) ? first : 0;
}

static int bounds_grow(struct sched_bounds *bounds, uint64_t *size, struct error *error)
{
    uint64_t larger = *size > 0 ? 2 * *size : TABLE_MIN;
    uint64_t *table = realloc(bounds->table, larger * sizeof *table);
    if (table == NULL)
        return error_set(error, "out of memory for the boundaries of %" PRIu64 " chunks", larger * BOUNDS_STRIDE);
    bounds->table = table;
    *size = larger;
    return 0;
}

static int too_many(const struct sched *sched, struct error *error)
{
    return error_set(error,
                     "technique %s cuts %" PRIu64 " iterations into more than %" PRIu64
                     " chunks, which is too many for its closed form: accepted are fewer, with a larger min_chunk",
                     sched->technique->name, sched->iterations, CHUNKS_MAX);
}

static int fill_table(struct sched_bounds *bounds, struct error *error)
{
    const struct sched *sched = bounds->sched;
    uint64_t start = 0, size = 0;
    for (; start < sched->iterations; bounds->count++) {
        if (bounds->count == CHUNKS_MAX)
            return too_many(sched, error);
        uint64_t entry = bounds->count / BOUNDS_STRIDE;
        if (entry == size && bounds_grow(bounds, &size, error) < 0)
            return -1;
        if (bounds->count % BOUNDS_STRIDE == 0)
            bounds->table[entry] = start;
        uint64_t chunk = sched_at(sched, bounds->count), rest = sched->iterations - start;
        start += chunk < rest ? chunk : rest;
    }
    return 0;
}

int sched_bounds_init(struct sched_bounds *bounds, const struct sched *sched, struct error *error)
{
    *bounds = (struct sched_bounds){.sched = sched};
    if (!takes_table(sched)) {
        bounds->count = count_by_start(sched);
        bounds->equal = equal_size(bounds);
        return 0;
    }
    if (fill_table(bounds, error) == 0)
        return 0;
    sched_bounds_fini(bounds);
    return -1;
}

void sched_bounds_fini(struct sched_bounds *bounds)
{
    free(bounds->table);
    bounds->table = NULL;
}

uint64_t sched_bounds_start(const struct sched_bounds *bounds, uint64_t step)
{
    const struct sched *sched = bounds->sched;
    if (step >= bounds->count)
        return sched->iterations;
    if (bounds->equal > 0)
        return step * bounds->equal;
    if (bounds->table == NULL)
        return sched->technique->start(sched, step);
    uint64_t start = bounds->table[step / BOUNDS_STRIDE];
    for (uint64_t i = step - step % BOUNDS_STRIDE; i < step; i++)
        /* Chunk i is not the last chunk, so its size is not limited by the remaining iterations. */
        start += sched_at(sched, i);
    return start;
}
