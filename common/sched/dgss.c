/* SPDX-License-Identifier: MIT */
/* dgss: gss over units of power. The share of one unit of power is the V-th part of the remaining work, and a
 * worker with power V_j gets V_j shares. */
#include "common/sched/sched.h"
#include "common/sched/technique.h"

/* K = floor(ceil(R/V) V_j), [H] Algorithm 3, in which V is called A. */
static uint64_t dgss_next(struct sched *sched, unsigned worker)
{
    struct twofold remaining = twofold_of_integer(sched->remaining);
    return floor_times_power(sched, worker, ceil_share(sched, remaining, sched->power_total));
}

const struct technique technique_dgss = {
    .name = "dgss",
    .title = "distributed guided self-scheduling",
    .rule = "K = floor(ceil(R/V) V_j)",
    .source = "Han and Chronopoulos, Scalable Loop Self-Scheduling Schemes Implemented on Large-Scale Clusters, "
              "Algorithm 3",
    .when = "as gss, on workers of different speed",
    .needs = SCHED_NEEDS_POWER,
    .powers = SCHED_POWERS_BY_SLOWEST,
    .next = dgss_next,
    .from_rest = dgss_next,
};
