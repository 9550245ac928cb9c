/* SPDX-License-Identifier: MIT */
/* Chooses the technique for a loop: predicts the loop's time with each candidate, and takes the fastest one. The
 * choice is made again with new measurements for the next loop or time step. */
#pragma once

#include "common/predict/predict.h"
#include "common/sched/sched.h"

#define CHOICE_CANDIDATES_MAX 40

struct candidate {
    struct sched_spec spec;
    const char *name;   /* name of the technique, or the text of a --candidate; borrowed */
    double predicted_s; /* 0: no time was predicted */
    /* number of chunks after which the simulation was stopped because it took too long; 0: it was not stopped */
    uint64_t too_many;
};

struct choice {
    struct candidate candidates[CHOICE_CANDIDATES_MAX];
    unsigned count;
    unsigned chosen;
    unsigned times;
    uint64_t iterations;
};

/* Predicted times count as equal if their relative difference is smaller than this. */
#define CHOICE_MARGIN 0.005

/* Chooses `fallback` unless another technique is predicted to be faster by more than CHOICE_MARGIN. Techniques that
 * reject the loop are skipped. With recall, the margin is larger, and another technique is chosen only if there are
 * many iterations per worker. With recall, `ss` is preferred even if its predicted time is slightly longer. */
void choice_decide(struct choice *choice, const struct predict_loop *loop, const struct sched_spec *fallback);
