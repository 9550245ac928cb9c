/* SPDX-License-Identifier: MIT */
/* tap: tapering. Its chunks are those of gss, made smaller according to the spread of the iterations' times.
 *
 * Until mean and deviation are measured, each batch takes half of the remaining work, as in fac2. The first P chunks
 * of gss would take 63 % of the loop before anything is measured. */
#include "common/sched/batch.h"
#include "common/sched/geometric.h"
#include "common/sched/learn.h"
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

#include <math.h>

enum { PARAM_MU, PARAM_SIGMA, PARAM_ALPHA };
enum { SPREAD }; /* in sched->constant: v, or NaN until v is known */

/* Error of a chunk that is computed in doubles. It is relative to g + h. */
#define DOUBLES_OFF 0x1p-49

/* The value that Lucco chose. In nine of ten cases the time of a chunk is then at most 1.3 standard deviations above
 * its mean. */
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

static void fix_spread(struct sched *sched)
{
    struct twofold mu, sigma, alpha = param_meant(sched, PARAM_ALPHA, ALPHA);
    twofold_of_decimal(&mu, param_measured(sched, PARAM_MU));
    twofold_of_decimal(&sigma, param_measured(sched, PARAM_SIGMA));
    twofold_keep(sched->constant.real + SPREAD, twofold_divide(twofold_multiply(alpha, sigma), mu));
}

/* sched->own depends on mu and sigma. If both are given, it is the table of geometric.h for the closed form.
 * Otherwise it is a learn_pool, which measures them. */
static int tap_init(struct sched *sched, struct error *error)
{
    fix_spread(sched);
    sched->own = tap_is_given(sched) ? (void *)geometric_new(sched->iterations, sched->workers)
                                     : (void *)learn_pool_new(PARAM_MU, PARAM_SIGMA);
    return sched->own != NULL ? 0 : error_set(error, "technique tap: out of memory");
}

/* Computes the formula of taper() in double-double arithmetic. Few chunks need this precision. */
__attribute__((noinline, cold)) static uint64_t taper_near_whole(struct twofold g, struct twofold h)
{
    struct twofold square = twofold_multiply(h, twofold_add(twofold_multiply(twofold_of(4), g), h));
    return ceil_to_integer(twofold_subtract(twofold_add(g, h), twofold_root(square)), 0);
}

/* Returns ceil(g + v^2/2 - v sqrt(2g + v^2/4)), [DCA] eq 5 and 16, which is at most ceil(g). The code computes g + h
 * - sqrt(h (4g + h)) with h = v^2/2, because this takes fewer operations. Doubles are exact enough unless the result
 * is close to a whole number. */
static uint64_t taper(struct twofold g, struct twofold v)
{
    struct twofold h = twofold_multiply(v, twofold_multiply(v, twofold_of(0.5)));
    if (g.high < 1)
        return 1;
    double chunk = g.high + h.high - sqrt(h.high * (4 * g.high + h.high)), off = (g.high + h.high) * DOUBLES_OFF;
    double above = ceil(chunk - off);
    if (above != ceil(chunk + off))
        return taper_near_whole(g, h);
    return above > 0 ? (uint64_t)above : 0;
}

/* K = taper(R/P, v). If v = 0, that is the chunk of gss, which is computed in integers. */
static uint64_t tap_next(struct sched *sched, unsigned worker)
{
    struct twofold v = twofold_kept(sched->constant.real + SPREAD);
    (void)worker;
    if (isnan(v.high))
        return batch_half(sched);
    if (v.high == 0)
        return ceil_div(sched->remaining, sched->workers);
    return taper(twofold_divide(twofold_of_integer(sched->remaining), twofold_of(sched->workers)), v);
}

static uint64_t tap_at(const struct sched *sched, uint64_t step)
{
    struct twofold v = twofold_kept(sched->constant.real + SPREAD);
    return v.high == 0 ? geometric_ceil(sched->own, step) : taper(geometric_real(sched->own, step), v);
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
