/* SPDX-License-Identifier: MIT */
/* Learning from the measured times of chunks: the mean and the deviation of the time of ONE iteration, the speed of
 * each worker, and whether a worker has become faster or slower.
 *
 * The estimator. A chunk c of n_c iterations gives its mean x_c = time/n_c. A chunk that was timed in m_c >= 2 pieces
 * also gives s_c: an estimate of the standard deviation of one iteration within the chunk, with m_c - 1 degrees of
 * freedom. C chunks give:
 *
 * - the mean x = sum(n_c x_c) / sum(n_c);
 *
 * - between the chunks S = sum(n_c (x_c - x)^2), merged chunk by chunk (Chan, Golub and LeVeque 1979);
 *
 * - within the chunks W = sum((m_c - 1) s_c^2) / sum(m_c - 1), or S/(C-1) if no chunk was timed in pieces
 *   (if the iterations vary independently, S has the expectation (C-1) W);
 *
 * - the variance W + B with B = max(0, S - (C-1) W) / sum(n_c).
 *
 * B is only the part of the differences between chunks that the iterations within the chunks do not explain. W + B is
 * the variance of an iteration that is chosen at random from the loop (analysis of variance with one random effect).
 * If iterations vary independently, W + B is their variance. If two regions, or two workers, differ in cost, the
 * difference of their means counts. It is not multiplied by the size of their chunks.
 *
 * All values are finite, whatever was measured: the time of one iteration is clamped to [LEARN_TIME_MIN,
 * LEARN_TIME_MAX], and a deviation to at most LEARN_SPREAD_MAX times the mean. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"

/* Bounds of the time of one iteration in seconds. The lower one is less than a cycle of any processor, the upper one
 * is 30 years. */
#define LEARN_TIME_MIN 1e-12
#define LEARN_TIME_MAX 1e9

/* Limit of deviation / mean. At this limit one iteration out of 10^8 takes all the time. */
#define LEARN_SPREAD_MAX 1e4

/* Default and limit of the parameter `restart` of techniques that learn each worker's speed. With the default,
 * chunks of an irregular loop are averaged if they differ by less than a factor of 1.5. A worker that loses more
 * than a third of its speed is detected. */
#define LEARN_RESTART     1.5
#define LEARN_RESTART_MAX 1e6
#define LEARN_RESTART_PARAM                                                                                            \
    {                                                                                                                  \
        .name = "restart", .kind = SCHED_PARAM_REAL, .fallback = "1.5", .minimum = 0, .maximum = LEARN_RESTART_MAX,    \
        .summary = "factor by which two measurements in a row must differ from a worker's average to restart the "     \
                   "average; 0: never, as published"                                                                   \
    }

#define LEARN_MU_PARAM                                                                                                 \
    {                                                                                                                  \
        .name = "mu", .kind = SCHED_PARAM_REAL, .measured = SCHED_MEASURED_BY_FEEDBACK,                                \
        .fallback = "measured on the first batch", .minimum = LEARN_TIME_MIN, .maximum = LEARN_TIME_MAX,               \
        .summary = "mean time of an iteration in seconds"                                                              \
    }
#define LEARN_SIGMA_PARAM                                                                                              \
    {                                                                                                                  \
        .name = "sigma", .kind = SCHED_PARAM_REAL, .measured = SCHED_MEASURED_BY_FEEDBACK,                             \
        .fallback = "measured on the first batch", .minimum = 0, .maximum = LEARN_TIME_MAX,                            \
        .summary = "standard deviation of the time of an iteration in seconds"                                         \
    }

#define LEARN_H_PARAM                                                                                                  \
    {                                                                                                                  \
        .name = "h", .kind = SCHED_PARAM_REAL, .measured = SCHED_MEASURED_BY_PROBE,                                    \
        .fallback = "measured before the loop", .minimum = 0, .maximum = LEARN_TIME_MAX,                               \
        .summary = "time that handing out a chunk costs, in seconds"                                                   \
    }

struct learn_chunk {
    double iterations;
    double compute;
    /* the time in seconds from which the speed is computed: compute time, or compute time and waiting time */
    double time;
    double variance; /* variance of one iteration's time, from the spread within the chunk */
    double freedom;  /* degrees of freedom of `variance`; 0: unknown */
};

/* Mean and deviation of one iteration's compute time over all chunks added; initially zero. In the formulas above
 * the members from `compute` on are sum(n_c x_c), x, S, sum((m-1) s^2) and sum(m-1). */
struct learn_stats {
    double chunks, iterations;
    double compute;
    double mean;
    double between;
    double within, freedom;
};

/* The history of a worker, initially zero. In averages the k-th chunk since the start of the history has the
 * weight k: the sums are sum(k t_k) and sum(k n_k). */
struct learn_worker {
    struct learn_stats stats;
    double weighted_time, weighted_iterations;
    /* the latest chunk if it departs from the history; otherwise a chunk without iterations */
    struct learn_chunk suspect;
};

/* A sum to which terms are added and from which terms are removed; initially zero. The sum has twice the digits of a
 * double. Removing a large term leaves an error below 10^-31 of this term, so the sum need never be recomputed. */
struct learn_sum {
    double high, low;
};

/* Converts a measurement to a chunk. If `with_wait` is set, waiting time counts for the speed. Returns false if the
 * measured time is 0. */
bool learn_chunk_of(struct learn_chunk *chunk, const struct sched_feedback *feedback, bool with_wait);

void learn_chunk_merge(struct learn_chunk *chunk, const struct learn_chunk *other);

void learn_stats_add(struct learn_stats *stats, const struct learn_chunk *chunk);
/* Returns the variance of one iteration; 0 if unknown. */
double learn_stats_variance(const struct learn_stats *stats);

/* Adds the worker's next chunk. The history starts anew if this chunk and the previous one depart from the history
 * in the same direction. They depart if they differ from it by more than the factor `restart` (0: never) and by more
 * than the spread explains. If the two chunks have the same speed, the new history consists of both. Otherwise it
 * consists of this chunk alone, because the speed changed during the previous one. */
void learn_worker_add(struct learn_worker *worker, const struct learn_chunk *chunk, double restart);
/* Returns sum(k t_k) / sum(k n_k), the seconds for one iteration; 0 if nothing is measured. */
double learn_worker_pace(const struct learn_worker *worker);
/* Sets the mean and the variance of one iteration's time over the history. All chunks of the history have the same
 * weight in these two values. Returns false if nothing is measured. */
bool learn_worker_moments(const struct learn_worker *worker, double *mean, double *variance);

/* Sets `*restart` to the value of the parameter, or to the default. Fails if the given value is above 0 and below 1. */
int learn_restart(const struct sched *sched, unsigned param, double *restart, struct error *error);

void learn_sum_add(struct learn_sum *sum, double term);
static inline double learn_sum_value(const struct learn_sum *sum)
{
    return sum->high + sum->low;
}

/* A learn_pool determines the mean and the deviation over the iterations of all workers. They are measured once,
 * on the first P chunks, and then stay constant. */
enum { LEARN_NOT_WANTED = -1 };

struct learn_pool {
    /* indices of the two parameters in the technique's table; LEARN_NOT_WANTED: the technique has no such parameter */
    int mean_param, deviation_param;
    uint64_t chunks;
    struct learn_stats stats;
};

struct learn_pool *learn_pool_new(int mean_param, int deviation_param);
void learn_pool_add(struct learn_pool *pool, struct sched *sched, const struct sched_feedback *feedback);
