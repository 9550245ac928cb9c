/* SPDX-License-Identifier: MIT */
/* The speeds of the workers of a recorded run, told apart from the costs of its iterations.
 *
 * A recorded chunk took `count` iterations times what one of them costs there times the slowness of the worker. The
 * costs of a loop are alike in chunks that lie near one another, and these were computed by different workers: each
 * chunk is compared with those around it. Two equations hold at once, and are solved by going from one to the other:
 *
 *     cost around chunk k  =  sum over its neighbours of (time / slowness of their worker) / their iterations
 *     slowness of worker w =  time of its chunks / sum over them of (iterations * cost around them)
 *
 * (as the margins of a table are fitted in turn: Deming and Stephan 1940). The neighbours are as many before the
 * chunk as behind it, so that costs which rise or fall along the loop favour no worker. A chunk far from what both say
 * (more than five times the spread of all) was disturbed, and is left out.
 *
 * Limits: the speeds are those of the whole run, as means; costs that jump from chunk to chunk make them uncertain,
 * and a worker with fewer than RECORDED_CHUNKS_LEAST chunks among those of others has none. Where the speeds differ by
 * no more than chance could make them (Cochran 1954), they count as equal. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A worker's speed is known from so many chunks on. */
#define RECORDED_CHUNKS_LEAST 2

/* A chunk of the file, in the order of the loop. */
struct recorded_chunk {
    uint64_t count;  /* iterations, from 1 */
    double ns;       /* time of all of them */
    unsigned worker; /* 0 to workers - 1 */
};

struct recorded_speeds {
    double *speed; /* [workers] beside a worker of mean speed, the mean by the time that each has computed; 1 where it
                      is not known; owned */
    unsigned workers;
    unsigned known;     /* workers whose speed is known */
    bool are_different; /* false: they may well be equal, and `speed` is 1 for all */
};

/* Finds the speeds. -1 with one line when memory is out, and nothing is owned then. */
int recorded_speeds_find(struct recorded_speeds *speeds, const struct recorded_chunk *chunks, size_t count,
                         unsigned workers, struct error *error);
void recorded_speeds_fini(struct recorded_speeds *speeds);
