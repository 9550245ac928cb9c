/* SPDX-License-Identifier: MIT */
/* State of `--technique auto`. */
#pragma once

#include "common/predict/choose.h"

struct finished_chunks {
    uint64_t iterations;
    uint64_t due;
    double seconds;
    double squares; /* sum of (compute time)^2 / iterations over the chunks, in s^2 */
    double wait_s;  /* shortest time that a worker has waited for a chunk; 0: no worker has waited */
};

struct pace {
    uint64_t iterations;
    double compute_s;
};

struct chooser {
    struct choice choice;
    struct finished_chunks finished;
    /* [workers] mean time of an iteration for each worker, as the simulation uses it; owned, like `paces` */
    double *mean_s;
    struct pace *paces;
};
