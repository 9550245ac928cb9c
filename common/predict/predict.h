/* SPDX-License-Identifier: MIT */
/* Predicts the time of a loop with a technique by a small discrete-event simulation, from measurements of workers,
 * iterations and messages. Pure and deterministic.
 *
 * Model: a worker sends a request, and its master assigns a chunk from the master's pool. If the pool is empty, it is
 * refilled first, with some chunks for each worker of the master. Each request keeps the master busy for a part of the
 * round trip. The time of a chunk follows from the loop's profile and the worker's speed, times a random factor. The
 * work of n independent iterations with mean 1 and coefficient of variation c has a gamma distribution with mean n and
 * variance n c^2.
 *
 * With recall the random times of the iterations are the same for all techniques. After the last assignment the
 * worker that finishes first gets half of the iterations that the worker that finishes last has not begun.
 * Speculative copies are not simulated. */
#pragma once

#include "common/predict/profile.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

struct predict_loop {
    const struct run_spec *spec; /* borrowed; the technique and the loads in it are ignored */
    uint64_t iterations;
    unsigned workers;
    const double *mean_s; /* [workers] time of an iteration on each worker, > 0; borrowed */
    /* [workers] speeds in any unit, from which the powers are computed; NULL: the speeds are 1 / mean_s; borrowed */
    const double *speeds;
    unsigned masters;          /* 0: central topology */
    const unsigned *master_of; /* [workers] index of each worker's master; NULL: central topology; borrowed */
    struct profile profile;
    bool spread_known; /* false: profile.cov is 0 only because it was not measured */
    double round_trip_s;
    /* number of real workers that each simulated worker stands for, which increases the load of masters; 0 means 1 */
    double clients;
    double swr;
};

/* Predicts the loop's time by several simulations. Sets `*seconds` to the mean of their results plus the standard
 * deviation, because a technique that is sometimes slow is no good choice. Begins no further simulation after all
 * simulations together have needed `chunks_max` chunks. Returns 0 on success. Returns 1, with `*seconds` unchanged,
 * if a single simulation needs more than `chunks_max` chunks. Returns -1 if the technique rejects the loop or memory
 * runs out. */
int predict_seconds(const struct predict_loop *loop, const struct sched_spec *spec, uint64_t chunks_max,
                    double *seconds, struct error *error);

/* Returns the time of a schedule in which all workers are busy and finish at the same time. No schedule is faster. */
double predict_least_seconds(const struct predict_loop *loop);
