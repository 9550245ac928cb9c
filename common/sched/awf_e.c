/* SPDX-License-Identifier: MIT */
/* awf-e: awf-c measured by the total chunk time, which includes the scheduling overhead. */
#include "common/sched/awf.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

static int awf_e_init(struct sched *sched, struct error *error)
{
    return awf_prepare(sched, AWF_PER_CHUNK, true, error);
}

const struct technique technique_awf_e = {
    .name = "awf-e",
    .title = "adaptive weighted factoring, weights per chunk, total time",
    .rule = AWF_CHUNK_RULE "t_k the compute and waiting time of n_k iterations",
    .source = AWF_SOURCE,
    .when = "as awf-c, if some workers also wait longer for their chunks than others",
    .params = awf_params_by_chunk,
    .needs = SCHED_NEEDS_POWER | SCHED_NEEDS_FEEDBACK,
    .powers = SCHED_POWERS_BY_MEAN,
    .init = awf_e_init,
    .next = awf_next_by_chunk,
    .from_rest = awf_next_by_chunk,
    .feedback = awf_feedback,
    .weight = awf_weight,
    .again = awf_again,
};
