/* SPDX-License-Identifier: MIT */
/* awf-d: awf-b measured by the total chunk time, which includes the scheduling overhead. */
#include "common/sched/awf.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

static int awf_d_init(struct sched *sched, struct error *error)
{
    return awf_prepare(sched, AWF_PER_BATCH, true, error);
}

const struct technique technique_awf_d = {
    .name = "awf-d",
    .title = "adaptive weighted factoring, weights per batch, total time",
    .rule = AWF_BATCH_RULE "batches k, t_k the compute and waiting time of the n_k iterations of the worker in it",
    .source = AWF_SOURCE,
    .when = "as awf-b, if some workers also wait longer for their chunks than others",
    .params = awf_params_by_batch,
    .needs = SCHED_NEEDS_POWER | SCHED_NEEDS_FEEDBACK,
    .powers = SCHED_POWERS_BY_MEAN,
    .init = awf_d_init,
    .next = awf_next_by_batch,
    .batch_weight = awf_batch_weight,
    .feedback = awf_feedback,
    .weight = awf_weight,
    .again = awf_again,
};
