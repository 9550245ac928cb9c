/* SPDX-License-Identifier: MIT */
/* The chunks into which a technique cuts a loop, without a run.
 *
 * Workers ask in turn, or in a given order, which is repeated. When a worker asks again, an adaptive technique is told
 * how long the worker's last chunk took: count / power seconds. */
#pragma once

#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

/* Shared by all series of a command. All members are borrowed. */
struct series_setup {
    struct sched_config config;
    enum sched_form form;
    const unsigned *asked; /* order of workers, from 0; NULL: in turn */
    size_t asked_count;
};

struct chunk {
    unsigned worker;
    uint64_t first, count;
};

struct series {
    const struct series_setup *setup;
    struct sched sched;
    struct sched_bounds bounds;
    uint64_t *running; /* [workers] size of each worker's chunk; owned; NULL: the technique is not adaptive */
    uint64_t step;
};

/* `setup` must outlive the series, which must not be moved. On failure nothing is owned. */
int series_init(struct series *series, const struct series_setup *setup, const char *spec, struct error *error);
void series_fini(struct series *series);

/* True if a formula shows, without cutting, that all chunks have the same size, except perhaps a smaller last one.
 * `*size` gets this size. */
bool series_is_equal(const struct series *series, uint64_t *size);

/* Returns false at the end, and after a plug-in has failed: see series->sched.failure. */
bool series_next(struct series *series, struct chunk *chunk);
