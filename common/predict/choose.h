/* SPDX-License-Identifier: MIT */
/* Choosing the technique for a loop: predicts all techniques that need no further parameters and takes the fastest.
 * Repeated for the next loop or time step with new measurements. */
#pragma once

#include "common/predict/predict.h"
#include "common/sched/sched.h"

#define CHOICE_CANDIDATES_MAX 40

struct candidate {
    struct sched_spec spec;
    const char *name;   /* of the technique, or the user's text for a plug-in; borrowed */
    double predicted_s; /* 0: not simulated */
    uint64_t too_many;  /* simulation was stopped after so many chunks; else 0 */
};

struct choice {
    struct candidate candidates[CHOICE_CANDIDATES_MAX]; /* in the order of the manual */
    unsigned count;
    unsigned chosen;     /* index */
    unsigned times;      /* decisions so far */
    uint64_t iterations; /* covered by the last decision: the loop, or its rest */
};

/* Least relative difference in predicted time that counts. */
#define CHOICE_MARGIN 0.005

/* Decides. `fallback` is kept unless another technique is predicted to be faster by more than CHOICE_MARGIN. With
 * recall a much larger difference and many iterations per worker are needed, and one iteration at a time is preferred
 * if it costs nothing. Techniques that reject the loop are skipped. */
void choice_decide(struct choice *choice, const struct predict_loop *loop, const struct sched_spec *fallback);
