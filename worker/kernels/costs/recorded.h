/* SPDX-License-Identifier: MIT */
/* Separates the speeds of workers from the costs of iterations in a recorded run.
 *
 * The time of a recorded chunk is its number of iterations, times their cost, times the slowness of its worker. Nearby
 * chunks have similar costs and different workers, so each chunk is compared with those around it. Two equations are
 * solved by alternating iteration:
 *     cost around chunk k  =  sum over its neighbours of (time / slowness of their worker) / their iterations
 *     slowness of worker w =  time of its chunks / sum over them of (iterations * cost around them)
 *
 * The margins of a table are fitted in turn in the same way (Deming and Stephan 1940). A chunk has as many neighbours
 * before it as after it, so that costs that rise or fall along the loop favour no worker. A chunk far from its expected
 * time (more than five times the spread of all) was disturbed and is left out.
 *
 * Limits: speeds are means over the whole run. Costs that jump from chunk to chunk make them uncertain, and a worker
 * with fewer than RECORDED_CHUNKS_LEAST chunks between those of other workers has no known speed. If the speeds differ
 * by no more than chance explains (Cochran 1954), they count as equal. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A worker with fewer chunks than this has no known speed. */
#define RECORDED_CHUNKS_LEAST 2

struct recorded_chunk {
    uint64_t count;
    double ns;
    unsigned worker;
};

struct recorded_speeds {
    double *speed; /* [workers] relative to the mean weighted by compute time; 1 if unknown; owned */
    unsigned workers;
    unsigned known;
    bool are_different; /* false: the speeds may be equal, and all of `speed` is 1 */
};

int recorded_speeds_find(struct recorded_speeds *speeds, const struct recorded_chunk *chunks, size_t count,
                         unsigned workers, struct error *error);
void recorded_speeds_fini(struct recorded_speeds *speeds);
