/* SPDX-License-Identifier: MIT */
/* dfss: factoring over units of power.
 *
 * A stage ends when the powers served in it reach V, whoever asked; only then the remaining work is looked at
 * again. The share of one unit of power is the same for the whole stage. */
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

enum { PARAM_ALPHA };
enum { PARTS, STAGE_END };        /* constant: alpha V, and V less what the sum of powers may be off */
enum { SHARE, SERVED };           /* state: ceil(R/(alpha V)) and the powers served in this stage */
enum { STAGE_REST = SERVED + 1 }; /* state of from_rest: R at the start of the stage; 0: the first */

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
    sched->constant.real[PARTS] = param_real(sched, PARAM_ALPHA, 2) * sched->power_sum;
    sched->constant.real[STAGE_END] = sched->power_sum * (1 - ROUNDING_GUARD);
    sched->state.real[SERVED] = sched->power_sum;
    return 0;
}

/* K = floor(ceil(R/(alpha V)) V_j), [H] Algorithm 2. */
static uint64_t dfss_next(struct sched *sched, unsigned worker)
{
    double *state = sched->state.real;
    if (state[SERVED] >= sched->constant.real[STAGE_END]) {
        state[SERVED] = 0;
        state[SHARE] = ceil_share((double)sched->remaining / sched->constant.real[PARTS]);
    }
    state[SERVED] += sched->powers[worker];
    return floor_real(state[SHARE] * sched->powers[worker]);
}

/* Takes K from R alone: a stage hands out its share V times, so it lasts until R has fallen by that. A stage takes at
 * least 1/alpha of what remains, so that all stages of the longest loop are at most 44 alpha, in all calls together. */
static uint64_t dfss_from_rest(struct sched *sched, unsigned worker)
{
    double *state = sched->state.real, rest = (double)sched->remaining;
    double stage = state[STAGE_REST] > 0 ? state[STAGE_REST] : (double)sched->iterations;
    double share = ceil_share(stage / sched->constant.real[PARTS]);
    while (rest <= stage - share * sched->constant.real[STAGE_END]) {
        stage -= share * sched->power_sum;
        if (stage < rest) /* powers and shares were rounded */
            stage = rest;
        share = ceil_share(stage / sched->constant.real[PARTS]);
    }
    state[STAGE_REST] = stage;
    return floor_real(share * sched->powers[worker]);
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
