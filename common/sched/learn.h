/* SPDX-License-Identifier: MIT */
/* Learning from the measured times of chunks: the mean and the deviation of the time of ONE iteration, the speed of
 * each worker, and whether a worker has become faster or slower.
 *
 * The estimator. A chunk c of n_c iterations gives its mean x_c = time/n_c. If it was timed in m_c >= 2 pieces, it also
 * gives s_c: an estimate of the standard deviation of one iteration within it, with m_c - 1 degrees of freedom. Of C
 * chunks:
 *
 * - mean x = sum(n_c x_c) / sum(n_c);
 *
 * - between them S = sum(n_c (x_c - x)^2), merged chunk by chunk (Chan, Golub and LeVeque 1979);
 *
 * - within them W = sum((m_c - 1) s_c^2) / sum(m_c - 1), or S/(C-1) if no chunk was timed in pieces: if the iterations
 *   vary independently, S has the expectation (C-1) W;
 *
 * - variance W + B with B = max(0, S - (C-1) W) / sum(n_c).
 *
 * So B is only what the chunks differ by beyond what the iterations within them explain, and W + B is the variance of
 * an iteration taken from the whole at random (analysis of variance with one random effect). For iterations that vary
 * independently it is their variance. If two regions, or two workers, differ in cost, the difference of their means
 * counts, and not that difference times the size of their chunks.
 *
 * All values are finite, whatever was measured: the time of one iteration is taken within [LEARN_TIME_MIN,
 * LEARN_TIME_MAX], and a deviation up to LEARN_SPREAD_MAX times the mean. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"

/* For one iteration, in seconds: less than a cycle of any processor, and 30 years. */
#define LEARN_TIME_MIN 1e-12
#define LEARN_TIME_MAX 1e9

/* Limit of deviation over mean. At this value one iteration in 10^8 takes all the time. */
#define LEARN_SPREAD_MAX 1e4

/* The parameter `restart` of the techniques that learn each worker's speed. With the default, chunks of an irregular
 * loop that differ by less than a factor of 1.5 are averaged, but a loss of a third of the speed is detected. */
#define LEARN_RESTART     1.5
#define LEARN_RESTART_MAX 1e6
#define LEARN_RESTART_PARAM                                                                                            \
    {                                                                                                                  \
        .name = "restart", .kind = SCHED_PARAM_REAL, .fallback = "1.5", .minimum = 0, .maximum = LEARN_RESTART_MAX,    \
        .summary = "factor by which two measurements in a row must differ from a worker's average for it to start "    \
                   "anew; 0: never, as published"                                                                      \
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
    double time;     /* seconds that count for the speed: compute time, or compute and waiting time */
    double variance; /* variance of the time of one iteration, from the spread within the chunk */
    double freedom;  /* degrees of freedom of `variance`; 0: unknown */
};

/* Mean and deviation of one iteration's compute time over the chunks added. Zero at first. In the formulas above the
 * last five members are sum(n_c x_c), x, S, sum((m-1) s^2) and sum(m-1). */
struct learn_stats {
    double chunks, iterations;
    double compute;
    double mean;
    double between;
    double within, freedom;
};

/* The history of a worker, initially zero. Averages weight the k-th chunk since the history started by k: sum(k t_k)
 * and sum(k n_k). */
struct learn_worker {
    struct learn_stats stats;
    double weighted_time, weighted_iterations;
    struct learn_chunk suspect; /* the latest chunk if it departs from the history; otherwise it has no iterations */
};

/* A sum of terms that are added, changed and removed. It has twice the digits of a double: a large term leaves an error
 * below 10^-31 of itself when it is removed, so the sum need never be recomputed. Zero at first. */
struct learn_sum {
    double high, low;
};

/* Converts a measurement to a chunk. `with_wait`: waiting time counts for the speed. False if the chunk took no
 * time. */
bool learn_chunk_of(struct learn_chunk *chunk, const struct sched_feedback *feedback, bool with_wait);

void learn_chunk_merge(struct learn_chunk *chunk, const struct learn_chunk *other);

void learn_stats_add(struct learn_stats *stats, const struct learn_chunk *chunk);
/* Returns the variance of one iteration; 0 if unknown. */
double learn_stats_variance(const struct learn_stats *stats);

/* Adds the worker's next chunk. The history starts anew if this chunk and the one before depart from it in the same
 * direction, by more than the factor `restart` (0: never) and by more than the spread explains. It starts from both
 * chunks if their speeds are equal. Otherwise it starts from this one, because the speed changed during the first. */
void learn_worker_add(struct learn_worker *worker, const struct learn_chunk *chunk, double restart);
/* Returns sum(k t_k) / sum(k n_k), seconds for one iteration; 0: not measured. */
double learn_worker_pace(const struct learn_worker *worker);
/* Sets the unweighted mean and variance of one iteration over the history. False if nothing is measured. */
bool learn_worker_moments(const struct learn_worker *worker, double *mean, double *variance);

/* Sets `*restart` to the parameter's value or its default. Fails if the value is above 0 and below 1. */
int learn_restart(const struct sched *sched, unsigned param, double *restart, struct error *error);

void learn_sum_add(struct learn_sum *sum, double term);
static inline double learn_sum_value(const struct learn_sum *sum)
{
    return sum->high + sum->low;
}

/* The mean and deviation of all workers' iterations. They are measured once, on the first P chunks, and fixed from then
 * on. */
enum { LEARN_NOT_WANTED = -1 };

struct learn_pool {
    int mean_param, deviation_param; /* index of the technique's parameter, or LEARN_NOT_WANTED */
    uint64_t chunks;
    struct learn_stats stats;
};

struct learn_pool *learn_pool_new(int mean_param, int deviation_param);
void learn_pool_add(struct learn_pool *pool, struct sched *sched, const struct sched_feedback *feedback);
