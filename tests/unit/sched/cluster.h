/* SPDX-License-Identifier: MIT */
/* A made-up cluster for the tests of the techniques that learn: workers of known speeds that ask as soon as they have
 * finished, under a clock of its own. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/random.h"

#include <math.h>

enum { CLUSTER_WORKERS_MAX = 64, CLUSTER_PIECES = 8 };

struct cluster_worker {
    double speed;  /* iterations a second */
    double wait_s; /* before each chunk */
    double free_at;
    bool busy;
    struct sched_feedback feedback; /* of the chunk in work */
    uint64_t step;                  /* in which it was cut, from 0 */
    uint64_t chunks;                /* finished and fed back */
};

struct cluster {
    struct sched *sched;
    double spread; /* deviation over mean of an iteration's time */
    struct random random;
    double now_s;
    struct cluster_worker workers[CLUSTER_WORKERS_MAX];
};

static inline void cluster_init(struct cluster *cluster, struct sched *sched, double spread, uint64_t seed)
{
    *cluster = (struct cluster){.sched = sched, .spread = spread};
    random_init(&cluster->random, seed);
    for (unsigned j = 0; j < sched->workers; j++)
        cluster->workers[j].speed = 1000;
}

/* Nearly normal: twelve uniform numbers (Irwin and Hall). */
static inline double cluster_normal(struct cluster *cluster)
{
    double sum = -6;
    for (unsigned i = 0; i < 12; i++)
        sum += random_uniform(&cluster->random);
    return sum;
}

/* Times the chunk in pieces, as a worker does. */
static inline void cluster_compute(struct cluster *cluster, struct cluster_worker *worker, uint64_t count)
{
    struct sched_feedback *feedback = &worker->feedback;
    double mean = 1 / worker->speed, piece = fmax((double)count / CLUSTER_PIECES, 1), squares = 0;
    feedback->samples = (uint32_t)fmin((double)count, CLUSTER_PIECES);
    feedback->iterations = count;
    feedback->chunks = 1;
    feedback->wait_s = worker->wait_s;
    feedback->compute_s = feedback->deviation_s = 0;
    double times[CLUSTER_PIECES];
    for (unsigned i = 0; i < feedback->samples; i++) {
        times[i] = fmax(mean * (piece + sqrt(piece) * cluster->spread * cluster_normal(cluster)), 0);
        feedback->compute_s += times[i];
    }
    for (unsigned i = 0; i < feedback->samples; i++)
        squares +=
            (times[i] - feedback->compute_s / feedback->samples) * (times[i] - feedback->compute_s / feedback->samples);
    if (feedback->samples >= 2)
        feedback->deviation_s = sqrt(squares / (feedback->samples - 1) / piece);
}

static inline unsigned cluster_first_free(const struct cluster *cluster)
{
    unsigned first = 0;
    for (unsigned j = 1; j < cluster->sched->workers; j++)
        if (cluster->workers[j].free_at < cluster->workers[first].free_at)
            first = j;
    return first;
}

/* The next worker that is free feeds back, asks and begins; returns which. Its chunk is feedback.iterations, 0: none.
 */
static inline unsigned cluster_step(struct cluster *cluster)
{
    unsigned j = cluster_first_free(cluster);
    struct cluster_worker *worker = &cluster->workers[j];
    cluster->now_s = worker->free_at;
    if (worker->busy) {
        sched_feedback(cluster->sched, &worker->feedback);
        worker->chunks++;
    }
    uint64_t count = sched_next(cluster->sched, j);
    worker->busy = count > 0;
    worker->feedback = (struct sched_feedback){.worker = j};
    if (!worker->busy) {
        worker->free_at = INFINITY;
        return j;
    }
    worker->step = cluster->sched->step - 1;
    cluster_compute(cluster, worker, count);
    worker->free_at += worker->wait_s + worker->feedback.compute_s;
    return j;
}

static inline bool cluster_is_busy(const struct cluster *cluster)
{
    return cluster->workers[cluster_first_free(cluster)].free_at < INFINITY;
}

/* All are free again at the end of the loop, when the last has finished. */
static inline void cluster_next_loop(struct cluster *cluster)
{
    for (unsigned j = 0; j < cluster->sched->workers; j++)
        cluster->workers[j].free_at = cluster->now_s;
}

/* The weight that the worker's speed deserves. */
static inline double cluster_true_weight(const struct cluster *cluster, unsigned worker)
{
    double sum = 0;
    for (unsigned j = 0; j < cluster->sched->workers; j++)
        sum += cluster->workers[j].speed;
    return cluster->workers[worker].speed * cluster->sched->workers / sum;
}

/* The largest relative error of the learned weights. */
static inline double cluster_error(const struct cluster *cluster)
{
    double worst = 0;
    for (unsigned j = 0; j < cluster->sched->workers; j++) {
        double truth = cluster_true_weight(cluster, j);
        worst = fmax(worst, fabs(sched_weight(cluster->sched, j) - truth) / truth);
    }
    return worst;
}
