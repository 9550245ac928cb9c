/* SPDX-License-Identifier: MIT */
/* fac: factoring. The part of the remaining work that a batch takes depends on mean and deviation of an iteration's
 * time. The more the times vary, the smaller the part is.
 *
 * Until mean and deviation are measured a batch takes half of the remaining work, as in fac2. The batch after that
 * uses the rule for batches other than the first. */
#include "common/sched/batch.h"
#include "common/sched/factoring.h"
#include "common/sched/learn.h"
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

static const struct technique_param fac_params[] = {
    [FACTORING_MU] = LEARN_MU_PARAM,
    [FACTORING_SIGMA] = LEARN_SIGMA_PARAM,
    {.name = NULL},
};

static int fac_init(struct sched *sched, struct error *error)
{
    sched->own = learn_pool_new(FACTORING_MU, FACTORING_SIGMA);
    return sched->own != NULL ? 0 : error_set(error, "technique fac: out of memory");
}

static uint64_t fac_next(struct sched *sched, unsigned worker)
{
    uint64_t *state = sched->state.integer;
    (void)worker;
    if (batch_begins(sched))
        state[BATCH_CHUNK] = factoring_chunk(sched, sched->remaining, state[BATCH_NUMBER] == 1);
    return state[BATCH_CHUNK];
}

static void fac_feedback(struct sched *sched, const struct sched_feedback *feedback)
{
    learn_pool_add(sched->own, sched, feedback);
}

static void fac_again(struct sched *sched)
{
    sched->state.integer[BATCH_LEFT] = sched->state.integer[BATCH_NUMBER] = 0;
}

const struct technique technique_fac = {
    .name = "fac",
    .title = "factoring",
    .rule = "K = ceil(R/(xP)) at the start of each batch of P chunks; first batch x = 1 + b^2 + b sqrt(b^2 + 2), "
            "later x = 2 + b^2 + b sqrt(b^2 + 4), b = P sigma / (2 sqrt(R) mu); x = 2 while mu and sigma are not known",
    .source = "Hummel, Schonberg and Flynn, Factoring: a method for scheduling parallel loops",
    .when = "the iterations vary in time, by about the same everywhere, and the workers are alike",
    .params = fac_params,
    .init = fac_init,
    .next = fac_next,
    .feedback = fac_feedback,
    .again = fac_again,
};
