/* SPDX-License-Identifier: MIT */
/* fac: factoring. The part of what remains that a batch takes follows from mean and deviation of an iteration's time:
 * the more they vary, the more is kept back.
 *
 * While mean and deviation are not known a batch takes half, as in fac2; once they are measured, the next batch follows
 * the rule, as a later batch. */
#include "common/sched/batch.h"
#include "common/sched/learn.h"
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

#include <math.h>

enum { PARAM_MU, PARAM_SIGMA };

static const struct technique_param fac_params[] = {
    [PARAM_MU] = LEARN_MU_PARAM,
    [PARAM_SIGMA] = LEARN_SIGMA_PARAM,
    {.name = NULL},
};

static int fac_init(struct sched *sched, struct error *error)
{
    sched->own = learn_pool_new(PARAM_MU, PARAM_SIGMA);
    return sched->own != NULL ? 0 : error_set(error, "technique fac: out of memory");
}

/* x_0 = 1 + b^2 + b sqrt(b^2 + 2), x_j = 2 + b^2 + b sqrt(b^2 + 4) with b = P sigma / (2 sqrt(R) mu), Hummel, Schonberg
 * and Flynn, Factoring, section 4. Not known: 2. */
static struct twofold parts(const struct sched *sched, bool first)
{
    struct twofold base = twofold_of(first ? 1 : 2), mu, sigma, rest = twofold_of_integer(sched->remaining);
    if (isnan(param_measured(sched, PARAM_MU)) || isnan(param_measured(sched, PARAM_SIGMA)))
        return twofold_of(2);
    twofold_of_decimal(&mu, param_measured(sched, PARAM_MU));
    twofold_of_decimal(&sigma, param_measured(sched, PARAM_SIGMA));
    struct twofold ratio = twofold_divide(twofold_multiply(sigma, twofold_of(sched->workers)), mu);
    struct twofold b = twofold_divide(ratio, twofold_multiply(twofold_of(2), twofold_root(rest)));
    struct twofold square = twofold_multiply(b, b);
    struct twofold root = twofold_root(twofold_add(square, twofold_add(base, base)));
    return twofold_add(twofold_add(base, square), twofold_multiply(b, root));
}

/* K = ceil(R/(x P)) at the start of a batch of P. */
static uint64_t fac_next(struct sched *sched, unsigned worker)
{
    uint64_t *state = sched->state.integer;
    (void)worker;
    if (batch_begins(sched)) {
        struct twofold x = twofold_multiply(parts(sched, state[BATCH_NUMBER] == 1), twofold_of(sched->workers));
        state[BATCH_CHUNK] = ceil_to_integer(twofold_divide(twofold_of_integer(sched->remaining), x), 0);
    }
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
