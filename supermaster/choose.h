/* SPDX-License-Identifier: MIT */
/* `--technique auto`: the state of choosing. */
#pragma once

#include "common/predict/choose.h"

/* A worker's pace: the sums over its finished chunks. */
struct pace {
    uint64_t iterations;
    double compute_s;
};

struct chooser {
    struct choice choice;
    double *mean_s;      /* [workers], for the simulation */
    struct pace paces[]; /* [workers] */
};
