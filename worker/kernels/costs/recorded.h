/* SPDX-License-Identifier: MIT */
/* Separates the speeds of workers from the costs of iterations in a recorded run.
 *
 * The time of a recorded chunk is a product: its number of iterations, the cost of each, and the slowness of its
 * worker. Nearby chunks have similar costs and different workers, so each chunk is compared with its neighbours. Two
 * equations are solved in turn, until the values no longer change:
 *     cost around chunk k  =  sum over its neighbours of (time / slowness of their worker) / their iterations
 *     slowness of worker w =  time of its chunks / sum over them of (iterations * cost around them)
 *
 * The margins of a table are fitted in turn in the same way (Deming and Stephan 1940). A chunk has as many neighbours
 * before it as after it. So costs that rise or fall along the loop favour no worker. If the time of a chunk is far from
 * its expected time (more than five times the spread of all chunks), the chunk was disturbed and is left out.
 *
 * Limits: speeds are means over the whole run. If costs jump from chunk to chunk, the speeds are uncertain. If a worker
 * has fewer than RECORDED_CHUNKS_LEAST chunks between those of other workers, its speed is unknown. If chance explains
 * the differences between speeds (Cochran 1954), the speeds count as equal. */
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
    double *speed; /* [workers], owned; relative to the mean, which is weighted by compute time; 1 if unknown */
    unsigned workers;
    unsigned known;
    bool are_different; /* false: the speeds may be equal, and all of `speed` is 1 */
};

int recorded_speeds_find(struct recorded_speeds *speeds, const struct recorded_chunk *chunks, size_t count,
                         unsigned workers, struct error *error);
void recorded_speeds_fini(struct recorded_speeds *speeds);
