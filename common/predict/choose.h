/* SPDX-License-Identifier: MIT */
/* Choosing the technique for a loop: every technique that can be run with nothing more given is predicted, and the one
 * with the least time is taken. Called again for the next loop or time step with what has been measured by then. */
#pragma once

#include "common/predict/predict.h"
#include "common/sched/sched.h"

#define CHOICE_CANDIDATES_MAX 40

struct candidate {
    struct sched_spec spec;
    const char *name;   /* of the technique; of a plug-in its spec as the user wrote it; borrowed */
    double predicted_s; /* 0 where the candidate was not simulated */
    uint64_t too_many;  /* the candidate cuts more chunks than so many, and was not simulated to the end; else 0 */
};

struct choice {
    struct candidate candidates[CHOICE_CANDIDATES_MAX]; /* in the order of the manual */
    unsigned count;
    unsigned chosen;     /* index of the candidate */
    unsigned times;      /* number of decisions so far */
    uint64_t iterations; /* for which the latest decision was made: of the loop, or what was left of it by then */
};

/* Least difference in predicted time that counts. */
#define CHOICE_MARGIN 0.005

/* Decides. `fallback` is kept unless another is predicted to be faster by more than CHOICE_MARGIN. With recall that is
 * only believed where it is far more and there are many iterations for each worker, and one iteration at a time is
 * preferred where it costs nothing. A technique that refuses the loop is no candidate for it. */
void choice_decide(struct choice *choice, const struct predict_loop *loop, const struct sched_spec *fallback);
