/* SPDX-License-Identifier: MIT */
/* gss: each chunk is the P-th part of the remaining work. */
#include "common/sched/geometric.h"
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

enum { PARAM_ROUND };
enum { ROUND_CEIL, ROUND_FLOOR };
enum { ROUND };

static const struct technique_param gss_params[] = {
    [PARAM_ROUND] = {.name = "round",
                     .kind = SCHED_PARAM_CHOICE,
                     .fallback = "ceil",
                     .choices = "ceil|floor",
                     .summary = "how R/P is rounded in the recursive form"},
    {.name = NULL},
};

static int gss_init(struct sched *sched, struct error *error)
{
    sched->constant.integer[ROUND] = param_integer(sched, PARAM_ROUND, ROUND_CEIL);
    sched->own = geometric_new(sched->iterations, sched->workers);
    return sched->own != NULL ? 0 : error_set(error, "technique gss: out of memory");
}

/* K_i = ceil(R_i/P), [DCA] eq 4; floor(R_i/P) in [SW]. */
static uint64_t gss_next(struct sched *sched, unsigned worker)
{
    (void)worker;
    if (sched->constant.integer[ROUND] == ROUND_FLOOR)
        return sched->remaining / sched->workers;
    return ceil_div(sched->remaining, sched->workers);
}

/* K_i = ceil(((P-1)/P)^i N/P), [DCA] eq 14. */
static uint64_t gss_at(const struct sched *sched, uint64_t step)
{
    return geometric_ceil(sched->own, step);
}

const struct technique technique_gss = {
    .name = "gss",
    .title = "guided self-scheduling",
    .rule = "recursive K = ceil(R/P), or floor(R/P) with round=floor; closed K_i = ceil(((P-1)/P)^i N/P)",
    .source = "Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling, eq 4 and 14",
    .when = "workers begin at different times, and iterations take about equally long",
    .params = gss_params,
    .init = gss_init,
    .next = gss_next,
    .at = gss_at,
};
