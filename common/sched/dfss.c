/* SPDX-License-Identifier: MIT */
/* dfss: factoring over units of power.
 *
 * A stage serves requests until the powers of their workers sum to V. The share of one unit of power is computed
 * from the remaining work at the start of a stage and is constant within the stage. */
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

enum { PARAM_ALPHA };
enum { PARTS }; /* in sched->constant: alpha V */
/* in sched->state: ceil(R/(alpha V)), and the sum of the powers served in this stage */
enum { SHARE, SERVED = SHARE + 2, STAGE = SERVED + 2 };
/* in sched->state, used only by dfss_from_rest(): R at the start of the stage; 0: first stage */
enum { STAGE_REST = STAGE };

static const struct technique_param dfss_params[] = {
    [PARAM_ALPHA] = {.name = "alpha",
                     .kind = SCHED_PARAM_REAL,
                     .fallback = "2",
                     .minimum = 1,
                     .maximum = 1000,
                     .summary = "a stage takes 1/alpha of what remains"},
    {.name = NULL},
};

static int dfss_init(struct sched *sched, struct error *error)
{
    (void)error;
    struct twofold parts = twofold_multiply(param_meant(sched, PARAM_ALPHA, 2), sched->power_total);
    twofold_keep(sched->constant.real + PARTS, parts);
    twofold_keep(sched->state.real + SERVED, sched->power_total);
    return 0;
}

static struct twofold dfss_share(const struct sched *sched, struct twofold rest)
{
    return ceil_share(sched, rest, twofold_kept(sched->constant.real + PARTS));
}

/* The comparison has a tolerance, because the rounding errors of the sum depend on the order of the requests. */
static bool dfss_stage_is_over(const struct sched *sched, struct twofold served)
{
    return !twofold_is_below(twofold_add(served, twofold_guard(served, 0)), sched->power_total);
}

/* K = floor(ceil(R/(alpha V)) V_j), [H] Algorithm 2. */
static uint64_t dfss_next(struct sched *sched, unsigned worker)
{
    double *state = sched->state.real;
    struct twofold served = twofold_kept(state + SERVED), power = power_meant(sched, worker);
    if (dfss_stage_is_over(sched, served)) {
        served = twofold_of(0);
        twofold_keep(state + SHARE, dfss_share(sched, twofold_of_integer(sched->remaining)));
    }
    twofold_keep(state + SERVED, twofold_add(served, power));
    return floor_times_power(sched, worker, twofold_kept(state + SHARE));
}

/* Computes K from R alone. A stage hands out V shares, so it lasts until R has fallen by V shares. A stage takes at
 * least 1/alpha of the remaining work, so even the longest loop has at most 44 alpha stages. The while loop runs at
 * most this many times in all calls together. */
static uint64_t dfss_from_rest(struct sched *sched, unsigned worker)
{
    double *state = sched->state.real, rest = (double)sched->remaining;
    double stage = state[STAGE_REST] > 0 ? state[STAGE_REST] : (double)sched->iterations;
    struct twofold share = dfss_share(sched, twofold_of(stage));
    while (rest <= stage - share.high * sched->power_sum * (1 - ROUNDING_GUARD)) {
        stage -= share.high * sched->power_sum;
        /* Only rounding errors of powers and shares can make `stage` smaller than `rest`. */
        if (stage < rest)
            stage = rest;
        share = dfss_share(sched, twofold_of(stage));
    }
    state[STAGE_REST] = stage;
    return floor_times_power(sched, worker, share);
}

const struct technique technique_dfss = {
    .name = "dfss",
    .title = "distributed factoring self-scheduling",
    .rule = "K = floor(ceil(R/(alpha V)) V_j), with R taken at the start of a stage; a stage serves the power V",
    .source = "Han and Chronopoulos, Scalable Loop Self-Scheduling Schemes Implemented on Large-Scale Clusters, "
              "Algorithm 2",
    .when = "as fac2, on workers of different speed",
    .params = dfss_params,
    .needs = SCHED_NEEDS_POWER,
    .powers = SCHED_POWERS_BY_SLOWEST,
    .init = dfss_init,
    .next = dfss_next,
    .from_rest = dfss_from_rest,
};
