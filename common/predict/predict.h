/* SPDX-License-Identifier: MIT */
/* Prediction of the time that a loop takes with a technique: a small simulation of it under virtual time, from what has
 * been measured of the workers, the iterations and the messages. Pure and deterministic.
 *
 * Model: a worker asks, its master hands it a chunk out of its pool, or has the pool refilled with one chunk for each
 * of its workers first; a master is busy for a part of the round trip with each request. A chunk takes the mean time of
 * its iterations on that worker along the loop's profile, times a random factor: the sum of n independent iterations of
 * coefficient of variation c is taken as gamma-distributed with mean n and variance n c^2. With recall every technique
 * is simulated with the same drawn iterations, and when all is handed out the first worker to be idle gets half of what
 * the last one has not begun, when that one answers: at the end of an iteration. Copies are not simulated. */
#pragma once

#include "common/predict/profile.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

struct predict_loop {
    const struct run_spec *spec; /* borrowed; the technique to predict is given beside it; loads are not predicted */
    uint64_t iterations;
    unsigned workers;
    const double *mean_s; /* [workers] mean time of an iteration on that worker, > 0; borrowed */
    const double *speeds; /* [workers] that the powers are made of, in any unit; NULL: as mean_s has it; borrowed */
    unsigned masters;     /* 0: central */
    const unsigned *master_of; /* [workers], borrowed; NULL in the central topology */
    struct profile profile;
    bool spread_known;   /* profile.cov is measured; false: it is 0 because nothing is known */
    double round_trip_s; /* from a request to its answer */
    double clients;      /* workers that each simulated one stands for where messages are handled; 0 is taken as 1 */
    double swr;          /* value as in sched_config */
};

/* Predicts the loop's time in seconds: the mean of several simulations and their standard deviation on top, since a
 * technique that is quick on average and slow now and then is no good choice; of fewer where they would take more than
 * `chunks_max` chunks together. 0 when done; 1 when one alone does, with `*seconds` as it was; -1 with one line when
 * the technique refuses or memory is out. */
int predict_seconds(const struct predict_loop *loop, const struct sched_spec *spec, uint64_t chunks_max,
                    double *seconds, struct error *error);

/* The least time that any schedule needs: all workers busy to the same moment. */
double predict_least_seconds(const struct predict_loop *loop);
