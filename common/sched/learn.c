/* SPDX-License-Identifier: MIT */
/* Learning from the measured times of chunks: see learn.h.
 *
 * Each chunk takes O(1) time, because only running sums are kept. Each worker may have one suspect chunk. It is kept
 * apart until it is clear whether the worker's speed has changed. */
#include "common/sched/learn.h"

#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

#include <math.h>
#include <stdlib.h>

/* A chunk departs from the history if the means differ by more than this many standard errors. Means of small chunks
 * of an irregular loop have longer tails than a normal distribution. For example, chunks of one iteration with
 * exponentially distributed time exceed 4 standard errors by chance in 1 of 150 cases. Two such chunks in a row
 * occur in 1 of 22,000 cases. */
#define STANDARD_ERRORS 4

/* If a history has at least this many degrees of freedom, its variance counts as exact. One chunk that was timed in
 * eight pieces gives 7 degrees of freedom. In 1 of 36 cases the variance of such a history is too small by a factor
 * of 4. */
#define FREEDOM_ENOUGH 7

/* Two chunks whose means differ by less than this factor have the same speed. The speed may have changed during the
 * first chunk, whose mean is then between the old and the new speed. This shifts the average of the two chunks by no
 * more than this factor. */
#define SAME_SPEED 1.05

static double clamp(double value, double minimum, double maximum)
{
    return value < minimum ? minimum : value < maximum ? value : maximum;
}

bool learn_chunk_of(struct learn_chunk *chunk, const struct sched_feedback *feedback, bool with_wait)
{
    double iterations = (double)feedback->iterations, time = feedback->compute_s + (with_wait ? feedback->wait_s : 0);
    if (!(time > 0))
        return false;
    double mean = clamp(feedback->compute_s / iterations, LEARN_TIME_MIN, LEARN_TIME_MAX);
    double deviation = clamp(feedback->deviation_s, 0, LEARN_SPREAD_MAX * mean);
    *chunk = (struct learn_chunk){
        .iterations = iterations,
        .compute = mean * iterations,
        .time = clamp(time / iterations, LEARN_TIME_MIN, LEARN_TIME_MAX) * iterations,
        .variance = feedback->samples >= 2 ? deviation * deviation : 0,
        .freedom = feedback->samples >= 2 ? feedback->samples - 1 : 0,
    };
    return true;
}

void learn_chunk_merge(struct learn_chunk *chunk, const struct learn_chunk *other)
{
    double freedom = chunk->freedom + other->freedom;
    if (freedom > 0)
        chunk->variance = (chunk->variance * chunk->freedom + other->variance * other->freedom) / freedom;
    chunk->freedom = freedom;
    chunk->iterations += other->iterations;
    chunk->compute += other->compute;
    chunk->time += other->time;
}

static double learn_mean_of(const struct learn_chunk *chunk)
{
    return chunk->compute / chunk->iterations;
}

void learn_stats_add(struct learn_stats *stats, const struct learn_chunk *chunk)
{
    double iterations = stats->iterations + chunk->iterations, distance = learn_mean_of(chunk) - stats->mean;
    stats->between += distance * distance * stats->iterations * (chunk->iterations / iterations);
    stats->iterations = iterations;
    stats->compute += chunk->compute;
    stats->mean = stats->compute / iterations;
    stats->chunks++;
    stats->within += chunk->variance * chunk->freedom;
    stats->freedom += chunk->freedom;
}

/* Returns the variance W of the formulas in learn.h. */
static double variance_within(const struct learn_stats *stats)
{
    if (stats->freedom > 0)
        return stats->within / stats->freedom;
    return stats->chunks > 1 ? stats->between / (stats->chunks - 1) : 0;
}

/* Returns the variance B of the formulas in learn.h. */
static double variance_between(const struct learn_stats *stats)
{
    double explained = (stats->chunks - 1) * variance_within(stats);
    return stats->between > explained ? (stats->between - explained) / stats->iterations : 0;
}

double learn_stats_variance(const struct learn_stats *stats)
{
    return variance_within(stats) + variance_between(stats);
}

static bool spread_is_known(const struct learn_stats *stats, const struct learn_chunk *chunk)
{
    return stats->freedom > 0 || chunk->freedom > 0 || stats->chunks > 2;
}

/* Returns the variance of the difference between the chunk's mean and the history's mean, if the speed has not
 * changed: W/n_chunk + W/n_history + B. The spread within the chunk counts only while the history is short.
 * Otherwise a change of speed during the chunk would look like spread, and the change would be missed. */
static double variance_of_distance(const struct learn_stats *stats, const struct learn_chunk *chunk)
{
    double within = variance_within(stats);
    if (stats->freedom < FREEDOM_ENOUGH)
        within = fmax(within, chunk->variance);
    return within / chunk->iterations + within / stats->iterations + variance_between(stats);
}

static int direction(const struct learn_stats *stats, const struct learn_chunk *chunk, double restart)
{
    double mean = learn_mean_of(chunk);
    return mean > stats->mean * restart ? 1 : mean * restart < stats->mean ? -1 : 0;
}

static bool departs(const struct learn_stats *stats, const struct learn_chunk *chunk, double restart)
{
    if (restart == 0 || stats->chunks == 0 || !spread_is_known(stats, chunk))
        return false;
    double distance = fabs(learn_mean_of(chunk) - stats->mean);
    return direction(stats, chunk, restart) != 0 &&
           distance > STANDARD_ERRORS * sqrt(variance_of_distance(stats, chunk));
}

static bool is_same_speed(const struct learn_chunk *chunk, const struct learn_chunk *other)
{
    return learn_mean_of(chunk) <= learn_mean_of(other) * SAME_SPEED &&
           learn_mean_of(other) <= learn_mean_of(chunk) * SAME_SPEED;
}

/* True if the chunk confirms the change of speed that the suspect chunk before it indicates. It must also depart
 * from the history, in the same direction. A chunk that is too small to depart confirms the change if it has the
 * same speed as the suspect. */
static bool is_confirmed(const struct learn_worker *worker, const struct learn_chunk *chunk, double restart)
{
    const struct learn_stats *stats = &worker->stats;
    return direction(stats, chunk, restart) == direction(stats, &worker->suspect, restart) &&
           (departs(stats, chunk, restart) || is_same_speed(&worker->suspect, chunk));
}

static void remember(struct learn_worker *worker, const struct learn_chunk *chunk)
{
    learn_stats_add(&worker->stats, chunk);
    worker->weighted_time += worker->stats.chunks * chunk->time;
    worker->weighted_iterations += worker->stats.chunks * chunk->iterations;
}

static void start_anew(struct learn_worker *worker, const struct learn_chunk *chunk)
{
    struct learn_chunk before = worker->suspect;
    *worker = (struct learn_worker){0};
    if (is_same_speed(&before, chunk))
        remember(worker, &before);
    remember(worker, chunk);
}

void learn_worker_add(struct learn_worker *worker, const struct learn_chunk *chunk, double restart)
{
    if (worker->suspect.iterations > 0) {
        if (is_confirmed(worker, chunk, restart)) {
            start_anew(worker, chunk);
            return;
        }
        remember(worker, &worker->suspect);
        worker->suspect = (struct learn_chunk){0};
    }
    if (departs(&worker->stats, chunk, restart))
        worker->suspect = *chunk;
    else
        remember(worker, chunk);
}

double learn_worker_pace(const struct learn_worker *worker)
{
    double k = worker->stats.chunks + 1;
    double iterations = worker->weighted_iterations + k * worker->suspect.iterations;
    return iterations > 0 ? (worker->weighted_time + k * worker->suspect.time) / iterations : 0;
}

bool learn_worker_moments(const struct learn_worker *worker, double *mean, double *variance)
{
    struct learn_stats stats = worker->stats;
    if (worker->suspect.iterations > 0)
        learn_stats_add(&stats, &worker->suspect);
    *mean = stats.mean;
    *variance = learn_stats_variance(&stats);
    return stats.chunks > 0;
}

int learn_restart(const struct sched *sched, unsigned param, double *restart, struct error *error)
{
    *restart = param_real(sched, param, LEARN_RESTART);
    if (*restart == 0 || *restart >= 1)
        return 0;
    return error_set(error, "technique %s: restart=%g is not accepted: 0, or a number from 1 to %g",
                     sched->technique->name, *restart, LEARN_RESTART_MAX);
}

/* Adds the rounding error of the addition to `low`. Knuth's TwoSum computes this error exactly. */
void learn_sum_add(struct learn_sum *sum, double term)
{
    double high = sum->high + term, part = high - sum->high;
    double lost = (sum->high - (high - part)) + (term - part);
    double low = sum->low + lost;
    sum->high = high + low;
    sum->low = low - (sum->high - high);
}

struct learn_pool *learn_pool_new(int mean_param, int deviation_param)
{
    struct learn_pool *pool = calloc(1, sizeof *pool);
    if (pool != NULL) {
        pool->mean_param = mean_param;
        pool->deviation_param = deviation_param;
    }
    return pool;
}

static void fix(struct sched *sched, int param, double value)
{
    if (param != LEARN_NOT_WANTED && !sched->spec.given[param] && isnan(sched->measured[param]))
        sched->measured[param] = value;
}

void learn_pool_add(struct learn_pool *pool, struct sched *sched, const struct sched_feedback *feedback)
{
    struct learn_chunk chunk;
    if (pool->chunks >= sched->workers || !learn_chunk_of(&chunk, feedback, false))
        return;
    learn_stats_add(&pool->stats, &chunk);
    pool->chunks += feedback->chunks;
    if (pool->chunks < sched->workers)
        return;
    fix(sched, pool->mean_param, pool->stats.mean);
    fix(sched, pool->deviation_param, sqrt(learn_stats_variance(&pool->stats)));
}
