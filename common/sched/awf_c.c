/* SPDX-License-Identifier: MIT */
/* awf-c: adaptive weighted factoring. Weights change with each chunk and are measured by compute time. */
#include "common/sched/awf.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

static int awf_c_init(struct sched *sched, struct error *error)
{
    return awf_prepare(sched, AWF_PER_CHUNK, false, error);
}

const struct technique technique_awf_c = {
    .name = "awf-c",
    .title = "adaptive weighted factoring, weights per chunk",
    .rule = AWF_CHUNK_RULE "t_k the compute time of n_k iterations",
    .source = AWF_SOURCE,
    .when = "the workers' speeds change during the loop and must be followed at once; hands out more chunks than awf-b",
    .params = awf_params_by_chunk,
    .needs = SCHED_NEEDS_POWER | SCHED_NEEDS_FEEDBACK,
    .powers = SCHED_POWERS_BY_MEAN,
    .init = awf_c_init,
    .next = awf_next_by_chunk,
    .from_rest = awf_next_by_chunk,
    .feedback = awf_feedback,
    .weight = awf_weight,
    .again = awf_again,
};
