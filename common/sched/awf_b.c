/* SPDX-License-Identifier: MIT */
/* awf-b: adaptive weighted factoring. Weights change with each batch and are measured by compute time. */
#include "common/sched/awf.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

static int awf_b_init(struct sched *sched, struct error *error)
{
    return awf_prepare(sched, AWF_PER_BATCH, false, error);
}

const struct technique technique_awf_b = {
    .name = "awf-b",
    .title = "adaptive weighted factoring, weights per batch",
    .rule = AWF_BATCH_RULE "batches k, t_k the compute time of the n_k iterations of the worker in it",
    .source = AWF_SOURCE,
    .when = "the workers differ in speed, or change it, and a chunk costs little to hand out",
    .params = awf_params_by_batch,
    .needs = SCHED_NEEDS_POWER | SCHED_NEEDS_FEEDBACK,
    .powers = SCHED_POWERS_BY_MEAN,
    .init = awf_b_init,
    .next = awf_next_by_batch,
    .batch_weight = awf_batch_weight,
    .feedback = awf_feedback,
    .weight = awf_weight,
    .again = awf_again,
};
