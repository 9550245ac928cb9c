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
    double predicted_s; /* 0: not predicted */
    uint64_t too_many;  /* the simulation was stopped after this many chunks; 0: it was not stopped */
};

struct choice {
    struct candidate candidates[CHOICE_CANDIDATES_MAX];
    unsigned count;
    unsigned chosen;
    unsigned times;
    uint64_t iterations;
};

/* Predicted times with a smaller relative difference count as equal. */
#define CHOICE_MARGIN 0.005

/* Chooses `fallback` unless another technique is predicted to be faster by more than CHOICE_MARGIN. With recall
 * the difference must be larger and there must be many iterations per worker, and `ss` is preferred if its
 * predicted time is hardly longer. Techniques that reject the loop are skipped. */
void choice_decide(struct choice *choice, const struct predict_loop *loop, const struct sched_spec *fallback);
