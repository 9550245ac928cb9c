/* SPDX-License-Identifier: MIT */
/* tap: tapering. gss's chunks, smaller by what the spread of the iterations' times makes advisable.
 *
 * While mean and deviation are not known, batches take half of what remains, as in fac2: gss's first P chunks would
 * give away 63 % of the loop before anything is measured. */
#include "common/sched/batch.h"
#include "common/sched/geometric.h"
#include "common/sched/learn.h"
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

#include <math.h>

enum { PARAM_MU, PARAM_SIGMA, PARAM_ALPHA };
enum { SPREAD, SHARE }; /* constant: v, not a number until it is known; 1/P */

/* Lucco's choice. A chunk's time is within 1.3 standard deviations above its mean in nine of ten cases. */
#define ALPHA 1.3

static const struct technique_param tap_params[] = {
    [PARAM_MU] = LEARN_MU_PARAM,
    [PARAM_SIGMA] = LEARN_SIGMA_PARAM,
    [PARAM_ALPHA] = {.name = "alpha",
                     .kind = SCHED_PARAM_REAL,
                     .fallback = "1.3",
                     .minimum = 0,
                     .maximum = 1000,
                     .summary = "how many standard deviations a chunk keeps clear of the end"},
    {.name = NULL},
};

static bool tap_is_given(const struct sched *sched)
{
    return sched->spec.given[PARAM_MU] && sched->spec.given[PARAM_SIGMA];
}

/* v = alpha sigma / mu. */
static void fix_spread(struct sched *sched)
{
    double sigma = param_measured(sched, PARAM_SIGMA), mu = param_measured(sched, PARAM_MU);
    sched->constant.real[SPREAD] = param_real(sched, PARAM_ALPHA, ALPHA) * sigma / mu;
}

/* Takes the closed form's inputs, where there is one, else what is measured. */
static int tap_init(struct sched *sched, struct error *error)
{
    fix_spread(sched);
    sched->constant.real[SHARE] = 1 / (double)sched->workers;
    sched->own = tap_is_given(sched) ? (void *)geometric_new(sched->iterations, sched->workers)
                                     : (void *)learn_pool_new(PARAM_MU, PARAM_SIGMA);
    return sched->own != NULL ? 0 : error_set(error, "technique tap: out of memory");
}

/* ceil(g + v^2/2 - v sqrt(2g + v^2/4)), [DCA] eq 5 and 16, as g + h - sqrt(4hg + h^2) with h = v^2/2, which is the same
 * with fewer steps before and after the root. Where g < v^2 that is nothing, and becomes a chunk of 1. */
static uint64_t taper(double g, double v)
{
    double h = v * v / 2;
    return (uint64_t)ceil_real(g + h - sqrt(4 * h * g + h * h));
}

/* g = R/P; without a spread gss's chunk in whole numbers, which is exact where a double has too few digits. */
static uint64_t tap_next(struct sched *sched, unsigned worker)
{
    double v = sched->constant.real[SPREAD];
    (void)worker;
    if (isnan(v))
        return batch_half(sched);
    if (v == 0)
        return ceil_div(sched->remaining, sched->workers);
    return taper((double)sched->remaining * sched->constant.real[SHARE], v);
}

/* g = ((P-1)/P)^i N/P. */
static uint64_t tap_at(const struct sched *sched, uint64_t step)
{
    double v = sched->constant.real[SPREAD];
    return v == 0 ? geometric_ceil(sched->own, step) : taper(geometric_real(sched->own, step), v);
}

static void tap_feedback(struct sched *sched, const struct sched_feedback *feedback)
{
    if (!isnan(sched->constant.real[SPREAD]))
        return;
    learn_pool_add(sched->own, sched, feedback);
    fix_spread(sched);
}

const struct technique technique_tap = {
    .name = "tap",
    .title = "tapering",
    .rule = "K = ceil(g + v^2/2 - v sqrt(2g + v^2/4)), v = alpha sigma / mu; recursive g = R/P; "
            "closed g = ((P-1)/P)^i N/P; while mu and sigma are not known K = ceil(R/(2P)) in batches of P",
    .source =
        "Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling, eq 5 and 16; Lucco, A "
        "dynamic scheduling method for irregular parallel programs",
    .when = "the iterations vary in time, and large first chunks are wanted as in gss",
    .params = tap_params,
    .init = tap_init,
    .next = tap_next,
    .at = tap_at,
    .feedback = tap_feedback,
};
