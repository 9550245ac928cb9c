/* SPDX-License-Identifier: MIT */
/* Chooses the technique for a loop: predicts all techniques that need no further parameters and takes the fastest. The
 * choice is made again with new measurements for the next loop or time step. */
#pragma once

#include "common/predict/predict.h"
#include "common/sched/sched.h"

#define CHOICE_CANDIDATES_MAX 40

struct candidate {
    struct sched_spec spec;
    const char *name;   /* name of the technique, or the user's text for a plug-in; borrowed */
    double predicted_s; /* 0: not simulated */
    uint64_t too_many;  /* the simulation was stopped after this many chunks; 0: it was not */
};

struct choice {
    struct candidate candidates[CHOICE_CANDIDATES_MAX];
    unsigned count;
    unsigned chosen;
    unsigned times;
    uint64_t iterations;
};

/* A smaller relative difference in predicted time does not count. */
#define CHOICE_MARGIN 0.005

/* `fallback` is kept unless another technique is predicted to be faster by more than CHOICE_MARGIN. With recall the
 * difference must be much larger and the iterations per worker many, and `ss` is preferred if it costs nothing.
 * Techniques that reject the loop are skipped. */
void choice_decide(struct choice *choice, const struct predict_loop *loop, const struct sched_spec *fallback);
