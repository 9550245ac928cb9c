/* SPDX-License-Identifier: MIT */
/* Predicts the time of a loop with a technique by a small discrete-event simulation, from measurements of workers,
 * iterations and messages. Pure and deterministic.
 *
 * Model: a worker asks, and its master assigns a chunk from its pool, which is refilled with one chunk per worker if
 * necessary. Each request keeps the master busy for a part of the round trip. A chunk takes the mean time of its
 * iterations on that worker along the loop's profile, times a random factor: the sum of n independent iterations
 * with coefficient of variation c is gamma-distributed with mean n and variance n c^2.
 *
 * With recall all techniques get the same drawn iterations. After the last assignment the first idle worker gets
 * half of what the last worker has not begun when it answers, which is at the end of an iteration. Copies are not
 * simulated. */
#pragma once

#include "common/predict/profile.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

struct predict_loop {
    const struct run_spec *spec; /* borrowed; its technique and loads are ignored */
    uint64_t iterations;
    unsigned workers;
    const double *mean_s; /* [workers] time of an iteration on each worker, > 0; borrowed */
    /* [workers] speeds, in any unit, from which the powers are computed; NULL: 1 / mean_s; borrowed */
    const double *speeds;
    unsigned masters;          /* 0: central topology */
    const unsigned *master_of; /* [workers] index of each worker's master; NULL: central topology; borrowed */
    struct profile profile;
    bool spread_known; /* false: profile.cov is 0 because nobody measured it */
    double round_trip_s;
    double clients; /* real workers per simulated one, for the load of masters; 0 means 1 */
    double swr;
};

/* Predicts the loop's time: the mean of several simulations plus their standard deviation, because a technique that is
 * sometimes slow is no good choice. There are fewer simulations if they would need more than `chunks_max` chunks
 * together. Returns 0; 1 if one simulation alone needs more, with `*seconds` unchanged; or -1 if the technique rejects
 * the loop or memory runs out. */
int predict_seconds(const struct predict_loop *loop, const struct sched_spec *spec, uint64_t chunks_max,
                    double *seconds, struct error *error);

/* Returns the time if all workers were busy to the same moment: no schedule is faster. */
double predict_least_seconds(const struct predict_loop *loop);
