/* SPDX-License-Identifier: MIT */
/* State of `--technique auto`. */
#pragma once

#include "common/predict/choose.h"

/* Sums over all finished chunks, for a choice without probes. */
struct finished_chunks {
    uint64_t iterations;
    uint64_t due; /* iterations at which to decide next */
    double seconds;
    double squares; /* sum of (seconds of a chunk)^2 / its iterations */
    double wait_s;  /* shortest wait for a chunk; 0: none */
};

struct pace {
    uint64_t iterations;
    double compute_s;
};

struct chooser {
    struct choice choice;
    struct finished_chunks finished;
    double *mean_s; /* [workers] for the simulation; owned, like `paces` */
    struct pace *paces;
};
