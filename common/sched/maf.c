/* SPDX-License-Identifier: MIT */
/* maf: adaptive factoring by the total time of chunks, the mAF of LB4OMP. A worker's waiting time counts as time
 * of its chunk. */
#include "common/sched/af.h"
#include "common/sched/sched.h"

const struct technique technique_maf = {
    .name = "maf",
    .title = "adaptive factoring by the total time",
    .rule = "K of af, rounded up, with mu_p and sigma_p of the computing time plus the time that the worker waited for "
            "its chunks",
    .source = "mAF of LB4OMP: Müller Korndörfer et al., LB4OMP: A Dynamic Load Balancing Library for Multithreaded "
              "Applications; Banicescu and Liu, Adaptive factoring: a dynamic scheduling method tuned to the rate of "
              "weight changes",
    .when = "as af, if some workers also wait longer for their chunks than others",
    .params = af_params,
    .needs = SCHED_NEEDS_FEEDBACK,
    .for_comparison = true,
    .init = maf_init,
    .next = af_next,
    .from_rest = af_next,
    .feedback = af_feedback,
    .weight = af_weight,
    .again = af_again,
};
