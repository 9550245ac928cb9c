/* SPDX-License-Identifier: MIT */
/* The chunks that a technique cuts a loop into, one after the other, without a run.
 *
 * Workers ask round robin, or in the order that is given, which starts again when it is exhausted. A technique that
 * learns is told of each chunk when its worker asks again: it took exactly count / power seconds. */
#pragma once

#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

/* Common to all series of one command; everything is borrowed. */
struct series_setup {
    struct sched_config config;
    enum sched_form form;
    const unsigned *asked; /* the order, from 0; NULL for round robin */
    size_t asked_count;
};

struct chunk {
    unsigned worker; /* from 1 */
    uint64_t first, count;
};

struct series {
    const struct series_setup *setup;
    struct sched sched;
    struct sched_bounds bounds; /* closed form only */
    uint64_t *running;          /* by worker, the chunk it computes; owned; NULL where nothing is learned */
    uint64_t step;
};

/* -1 with one line, and nothing is owned. `setup` must outlive the series, which must not move. */
int series_init(struct series *series, const struct series_setup *setup, const char *spec, struct error *error);
void series_fini(struct series *series);

/* True if all chunks but the last, which may be smaller, are of one `size`, and that is known without a walk: where
 * the technique has a formula for the start of a chunk. */
bool series_is_equal(const struct series *series, uint64_t *size);

/* False at the end, and where the technique, a plug-in, has failed: then series->sched.failure says why. */
bool series_next(struct series *series, struct chunk *chunk);
