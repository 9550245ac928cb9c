/* SPDX-License-Identifier: MIT */
/* `--technique auto`: the state of choosing. */
#pragma once

#include "common/predict/choose.h"

/* Sums over all finished chunks, where the technique is chosen by them alone. */
struct finished_chunks {
    uint64_t iterations;
    uint64_t due;   /* iterations at which to choose next */
    double seconds; /* compute time */
    double squares; /* sum of (seconds of a chunk)^2 / its iterations */
    double wait_s;  /* the shortest wait for a chunk; 0: nobody has waited */
};

/* A worker's pace: the sums over its finished chunks. */
struct pace {
    uint64_t iterations;
    double compute_s;
};

struct chooser {
    struct choice choice;
    struct finished_chunks finished;
    double *mean_s;     /* [workers], for the simulation; owned */
    struct pace *paces; /* [workers]; owned */
};
