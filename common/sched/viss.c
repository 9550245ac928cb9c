/* SPDX-License-Identifier: MIT */
/* viss: chunks grow from batch to batch; each increase is half of the previous increase. */
#include "common/sched/halving.h"
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

enum { PARAM_X };
/* in sched->constant: 2 K0 - 1, and the number of the first batch whose chunks reach min_chunk */
enum { LIMIT, LEVEL_BATCH };

#define X_DEFAULT 4 /* default of X, from [DCA] Table 2 */

static const struct technique_param viss_params[] = {
    [PARAM_X] = {.name = "x",
                 .kind = SCHED_PARAM_INTEGER,
                 .fallback = "4",
                 .minimum = 1,
                 .maximum = (double)SCHED_ITERATIONS_MAX,
                 .summary = "X, the first chunk is the X-th part of a worker's share"},
    {.name = NULL},
};

/* K = floor(K0 (1 - 0.5^n)/0.5) with n = b+1, [DCA] eq 10 and 20, which prints i mod P instead of b. This equals
 * 2 K0 - ceil(2 K0/2^n) and, with M = 2 K0 - 1, M - floor(M/2^n), which needs only integers; M fits 64 bits. */
static uint64_t viss_chunk_of_batch(uint64_t limit, uint64_t batch)
{
    return limit - halved(limit / 2, batch);
}

/* K0 = floor(N/(XP)), [DCA] eq 10. */
static int viss_init(struct sched *sched, struct error *error)
{
    (void)error;
    uint128 parts = (uint128)param_integer(sched, PARAM_X, X_DEFAULT) * sched->workers;
    uint64_t first = (uint64_t)(sched->iterations / parts), batch = 0;
    uint64_t limit = first > 0 ? 2 * (first - 1) + 1 : 0;
    while (batch < 64 && viss_chunk_of_batch(limit, batch) < sched->min_chunk)
        batch++;
    sched->constant.integer[LIMIT] = limit;
    sched->constant.integer[LEVEL_BATCH] = limit < sched->min_chunk ? UINT64_MAX : batch;
    return 0;
}

static uint64_t viss_at(const struct sched *sched, uint64_t step)
{
    return viss_chunk_of_batch(sched->constant.integer[LIMIT], step / sched->workers);
}

static uint64_t viss_start(const struct sched *sched, uint64_t step)
{
    uint64_t limit = sched->constant.integer[LIMIT], level = sched->constant.integer[LEVEL_BATCH];
    uint64_t batch = step / sched->workers;
    /* No chunk is empty, so at least `step` iterations precede this chunk. */
    if (step >= sched->iterations)
        return sched->iterations;
    if (batch < level)
        return start_of_equal(sched, sched->min_chunk, step);
    uint128 batches = (uint128)level * sched->min_chunk + (uint128)(batch - level) * limit -
                      (halved_sum(limit, batch) - halved_sum(limit, level));
    return start_within(sched, batches * sched->workers +
                                   (uint128)(step % sched->workers) * viss_chunk_of_batch(limit, batch));
}

static uint64_t viss_next(struct sched *sched, unsigned worker)
{
    (void)worker;
    return viss_at(sched, sched->step);
}

const struct technique technique_viss = {
    .name = "viss",
    .title = "variable increase self-scheduling",
    .rule = "K = floor(K0 (1 - 0.5^n)/0.5) with n = b+1; X = x, K0 = floor(N/(XP))",
    .source = "Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling, eq 10 and 20, whose "
              "print says i mod P",
    .when = "as fiss, with chunks that stay below twice the first one",
    .params = viss_params,
    .init = viss_init,
    .next = viss_next,
    .at = viss_at,
    .start = viss_start,
};
