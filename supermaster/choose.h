/* SPDX-License-Identifier: MIT */
/* State of `--technique auto`. */
#pragma once

#include "common/predict/choose.h"

struct finished_chunks {
    uint64_t iterations;
    uint64_t due;
    double seconds;
    double squares; /* sum over the chunks of (compute time)^2 / iterations, in s^2 */
    double wait_s;  /* shortest time that a worker waited for a chunk; 0: none has waited */
};

struct pace {
    uint64_t iterations;
    double compute_s;
};

struct chooser {
    struct choice choice;
    struct finished_chunks finished;
    double *mean_s; /* [workers] mean time of an iteration, for the simulation; owned, like `paces` */
    struct pace *paces;
};
