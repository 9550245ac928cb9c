/* SPDX-License-Identifier: MIT */
/* Predicts the time of a loop with a technique by a small discrete-event simulation, from measurements of workers,
 * iterations and messages. Pure and deterministic.
 *
 * Model: a worker asks, and its master assigns a chunk from its pool, after a refill with one chunk per worker if
 * necessary; each request keeps a master busy for a part of the round trip. A chunk takes the mean time of its
 * iterations on that worker along the loop's profile, times a random factor: the sum of n independent iterations with
 * coefficient of variation c is gamma-distributed with mean n and variance n c^2. With recall all techniques are
 * simulated with the same drawn iterations, and after the last assignment the first idle worker gets half of what the
 * last worker has not begun when that answers, at the end of an iteration. Copies are not simulated. */
#pragma once

#include "common/predict/profile.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

struct predict_loop {
    const struct run_spec *spec; /* borrowed; the technique is given separately; loads are ignored */
    uint64_t iterations;
    unsigned workers;
    const double *mean_s;      /* [workers] mean time of an iteration on each worker, > 0; borrowed */
    const double *speeds;      /* [workers] source of the powers, in any unit; NULL: 1 / mean_s; borrowed */
    unsigned masters;          /* 0: central topology */
    const unsigned *master_of; /* [workers]; borrowed; NULL with the central topology */
    struct profile profile;
    bool spread_known;   /* profile.cov is measured; false: it is 0 because it is unknown */
    double round_trip_s; /* request to answer */
    double clients;      /* real workers per simulated one for the load of masters; 0 means 1 */
    double swr;          /* as in sched_config */
};

/* Predicts the loop's time in seconds: mean of several simulations plus their standard deviation, because techniques
 * that are occasionally slow are no good choice; fewer simulations if they would need more than `chunks_max` chunks
 * together. Returns 0; 1 if one alone needs more, with `*seconds` unchanged; -1 if the technique rejects the loop or
 * memory runs out. */
int predict_seconds(const struct predict_loop *loop, const struct sched_spec *spec, uint64_t chunks_max,
                    double *seconds, struct error *error);

/* Lower bound for any schedule: all workers busy to the same moment. */
double predict_least_seconds(const struct predict_loop *loop);
