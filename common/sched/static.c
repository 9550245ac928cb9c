/* SPDX-License-Identifier: MIT */
/* static: one equal chunk for each worker. If work remains after these chunks, because of weighting or returned
 * work, chunks of the same size follow. */
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

enum { CHUNK };

static int static_init(struct sched *sched, struct error *error)
{
    (void)error;
    sched->constant.integer[CHUNK] = ceil_div(sched->iterations, sched->workers);
    return 0;
}

/* K = ceil(N/P), [RMA] Table 2. */
static uint64_t static_at(const struct sched *sched, uint64_t step)
{
    (void)step;
    return sched->constant.integer[CHUNK];
}

static uint64_t static_next(struct sched *sched, unsigned worker)
{
    (void)worker;
    return sched->constant.integer[CHUNK];
}

static uint64_t static_start(const struct sched *sched, uint64_t step)
{
    return start_of_equal(sched, sched->constant.integer[CHUNK], step);
}

const struct technique technique_static = {
    .name = "static",
    .title = "static chunking",
    .rule = "K = ceil(N/P)",
    .source = "Eleliemy and Ciorba, Dynamic Loop Scheduling Using MPI Passive-Target Remote Memory Access, Table 2",
    .when = "iterations take equally long and workers are equally fast: the least scheduling there is",
    .init = static_init,
    .next = static_next,
    .at = static_at,
    .start = static_start,
};
