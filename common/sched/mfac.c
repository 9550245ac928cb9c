/* SPDX-License-Identifier: MIT */
/* mfac: factoring in which the chunk size of a batch is computed from the number of the batch alone. This is the mFAC
 * of LB4OMP, in which each worker computes its chunk without knowing how much work remains.
 *
 * For the next batch R is reduced by P K, even if the chunks that were handed out had other sizes. */
#include "common/sched/batch.h"
#include "common/sched/factoring.h"
#include "common/sched/learn.h"
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

#include <stdlib.h>

enum { REST = BATCH_OWN }; /* in sched->state: R at the start of the batch */

/* Limit of the table of batches; mfac_init() fails if mu and sigma give more batches. Chunks of batches after the table
 * have one iteration. */
#define BATCHES_MAX (UINT64_C(1) << 20)

struct mfac {
    struct learn_pool pool;
    uint64_t batches;
    uint64_t chunk[];
};

static const struct technique_param mfac_params[] = {
    [FACTORING_MU] = LEARN_MU_PARAM,
    [FACTORING_SIGMA] = LEARN_SIGMA_PARAM,
    {.name = NULL},
};

static uint64_t rest_behind(const struct sched *sched, uint64_t rest, uint64_t chunk)
{
    uint128 taken = (uint128)chunk * sched->workers;
    return taken < rest ? rest - (uint64_t)taken : 0;
}

/* If the chunk size is below 2 in one batch, it is below 2 in all later batches, because x (see factoring.h)
 * grows while R falls. */
static uint64_t chunk_of_rest(const struct sched *sched, uint64_t rest, bool first)
{
    return rest > 0 ? factoring_chunk(sched, rest, first) : 1;
}

static bool mfac_is_given(const struct sched *sched)
{
    return sched->spec.given[FACTORING_MU] && sched->spec.given[FACTORING_SIGMA];
}

static uint64_t walk_batches(const struct sched *sched, uint64_t *table)
{
    uint64_t batch = 0;
    for (uint64_t rest = sched->iterations; rest > 0 && batch < BATCHES_MAX; batch++) {
        uint64_t chunk = chunk_of_rest(sched, rest, batch == 0);
        if (chunk < 2)
            break;
        if (table != NULL)
            table[batch] = chunk;
        rest = rest_behind(sched, rest, chunk);
    }
    return batch;
}

static int mfac_init(struct sched *sched, struct error *error)
{
    uint64_t batches = mfac_is_given(sched) ? walk_batches(sched, NULL) : 0;
    if (batches == BATCHES_MAX)
        return error_set(error,
                         "technique mfac: mu and sigma give more than %" PRIu64
                         " batches of chunks: accepted are a smaller sigma, or fac",
                         BATCHES_MAX);
    struct mfac *mfac = calloc(1, sizeof *mfac + batches * sizeof *mfac->chunk);
    if (mfac == NULL)
        return error_set(error, "technique mfac: out of memory");
    mfac->pool = (struct learn_pool){.mean_param = FACTORING_MU, .deviation_param = FACTORING_SIGMA};
    mfac->batches = batches;
    if (batches > 0)
        walk_batches(sched, mfac->chunk);
    sched->own = mfac;
    sched->state.integer[REST] = sched->iterations;
    return 0;
}

static uint64_t mfac_next(struct sched *sched, unsigned worker)
{
    uint64_t *state = sched->state.integer;
    (void)worker;
    if (batch_begins(sched)) {
        if (state[BATCH_NUMBER] > 1)
            state[REST] = rest_behind(sched, state[REST], state[BATCH_CHUNK]);
        state[BATCH_CHUNK] = chunk_of_rest(sched, state[REST], state[BATCH_NUMBER] == 1);
    }
    return state[BATCH_CHUNK];
}

static uint64_t mfac_at(const struct sched *sched, uint64_t step)
{
    const struct mfac *mfac = sched->own;
    uint64_t batch = step / sched->workers;
    return batch < mfac->batches ? mfac->chunk[batch] : 1;
}

static void mfac_feedback(struct sched *sched, const struct sched_feedback *feedback)
{
    learn_pool_add(&((struct mfac *)sched->own)->pool, sched, feedback);
}

const struct technique technique_mfac = {
    .name = "mfac",
    .title = "factoring, each batch from its number alone",
    .rule = "K = ceil(R/(xP)), x as in fac, R = N in the first batch, and R - P K of the previous batch in each later "
            "one; x = 2 while mu and sigma are not known",
    .source = "mFAC of LB4OMP: Müller Korndörfer et al., LB4OMP: A Dynamic Load Balancing Library for Multithreaded "
              "Applications; Hummel, Schonberg and Flynn, Factoring: a method for scheduling parallel loops",
    .when = "as fac, if chunks must be computed without the number of remaining iterations",
    .params = mfac_params,
    .for_comparison = true,
    .init = mfac_init,
    .next = mfac_next,
    .at = mfac_at,
    .feedback = mfac_feedback,
};
