/* SPDX-License-Identifier: MIT */
/* fsc: fixed-size chunking. The chunk size balances the cost of handing out chunks against the idle time at the end of
 * the loop.
 *
 * Until the deviation is measured, fsc uses the chunk size of mfsc, which does not need the deviation. */
#include "common/sched/learn.h"
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

#include <math.h>

enum { PARAM_H, PARAM_SIGMA };
enum { CHUNK };

#define LN_2 0.69314718055994530942

static const struct technique_param fsc_params[] = {
    [PARAM_H] = LEARN_H_PARAM,
    [PARAM_SIGMA] = LEARN_SIGMA_PARAM,
    {.name = NULL},
};

/* Returns the smallest K >= 1 with K^3 >= cube, but at most `most`. Searches for K by bisection. cbrt() and pow()
 * are not used, because the last digit of their results differs between mathematical libraries. With DCA every
 * worker computes the chunk itself and must get the same result. */
static uint64_t ceil_cube_root(double cube, uint64_t most)
{
    uint64_t low = 1, high = most > 1 ? most : 1;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        double root = (double)middle + ROUNDING_GUARD;
        if (root * root * root >= cube)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static double natural_logarithm(unsigned value)
{
    return (double)binary_logarithm(value) * LN_2 / (double)(UINT64_C(1) << LOGARITHM_BITS);
}

/* K = ceil((sqrt(2) N h / (sigma P sqrt(ln P)))^(2/3)), [DCA] eq 3, in which the exponent is missing (Kruskal and
 * Weiss 1985, Allocating independent subtasks on parallel processors). Hence K^3 = 2 (N h / (sigma P))^2 / ln P. The
 * result is at most ceil(N/P). */
static uint64_t fsc_chunk(const struct sched *sched)
{
    double h = param_measured(sched, PARAM_H), sigma = param_measured(sched, PARAM_SIGMA);
    uint64_t all = ceil_div(sched->iterations, sched->workers);
    if (isnan(h) || isnan(sigma))
        return mfsc_chunk(sched->iterations, sched->workers);
    if (sigma == 0 || sched->workers == 1)
        return all > 1 ? all : 1;
    double share = (double)sched->iterations / sched->workers * (h / sigma);
    return ceil_cube_root(2 * share * share / natural_logarithm(sched->workers), all);
}

static void fix_chunk(struct sched *sched)
{
    sched->constant.integer[CHUNK] = fsc_chunk(sched);
}

static int fsc_init(struct sched *sched, struct error *error)
{
    if (!sched->spec.given[PARAM_H] && sched->overhead_s > 0)
        sched->measured[PARAM_H] = sched->overhead_s;
    fix_chunk(sched);
    sched->own = learn_pool_new(LEARN_NOT_WANTED, PARAM_SIGMA);
    return sched->own != NULL ? 0 : error_set(error, "technique fsc: out of memory");
}

static uint64_t fsc_next(struct sched *sched, unsigned worker)
{
    (void)worker;
    return sched->constant.integer[CHUNK];
}

static uint64_t fsc_at(const struct sched *sched, uint64_t step)
{
    (void)step;
    return sched->constant.integer[CHUNK];
}

static void fsc_feedback(struct sched *sched, const struct sched_feedback *feedback)
{
    if (!isnan(param_measured(sched, PARAM_SIGMA)))
        return;
    learn_pool_add(sched->own, sched, feedback);
    if (!isnan(param_measured(sched, PARAM_SIGMA)))
        fix_chunk(sched);
}

static uint64_t fsc_start(const struct sched *sched, uint64_t step)
{
    return start_of_equal(sched, sched->constant.integer[CHUNK], step);
}

const struct technique technique_fsc = {
    .name = "fsc",
    .title = "fixed-size chunking",
    .rule = "K = ceil((sqrt(2) N h / (sigma P sqrt(ln P)))^(2/3)), from 1 to ceil(N/P); "
            "ceil(N/P) for P = 1 or sigma = 0; mfsc's chunk while h and sigma are not known",
    .source =
        "Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling, eq 3, whose print omits "
        "the exponent; Kruskal and Weiss, Allocating independent subtasks on parallel processors",
    .when = "the iterations vary in time by a known deviation, the workers are alike and begin together",
    .params = fsc_params,
    .init = fsc_init,
    .next = fsc_next,
    .at = fsc_at,
    .start = fsc_start,
    .feedback = fsc_feedback,
};
