/* SPDX-License-Identifier: MIT */
/* The chunks into which a technique cuts a loop, without a run.
 *
 * Workers ask round robin, or in the given order, which is repeated. Adaptive techniques get each chunk's time when its
 * worker asks again: count / power seconds. */
#pragma once

#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

/* Shared by all series of a command; all is borrowed. */
struct series_setup {
    struct sched_config config;
    enum sched_form form;
    const unsigned *asked; /* order from 0; NULL: round robin */
    size_t asked_count;
};

struct chunk {
    unsigned worker; /* from 1 */
    uint64_t first, count;
};

struct series {
    const struct series_setup *setup;
    struct sched sched;
    struct sched_bounds bounds;
    uint64_t *running; /* by worker, its chunk; owned; NULL if not adaptive */
    uint64_t step;
};

/* On failure nothing is owned. `setup` must outlive the series, which must not move. */
int series_init(struct series *series, const struct series_setup *setup, const char *spec, struct error *error);
void series_fini(struct series *series);

/* True if all chunks, except perhaps a smaller last one, have one `size`, and a formula shows that without a walk. */
bool series_is_equal(const struct series *series, uint64_t *size);

/* False at the end, or after a plug-in has failed: see series->sched.failure. */
bool series_next(struct series *series, struct chunk *chunk);
