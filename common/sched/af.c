/* SPDX-License-Identifier: MIT */
/* af: adaptive factoring. The size of a chunk is computed at every request, from the mean and the deviation of an
 * iteration's time on each worker. With this size the chunks of all workers probably end within the time that
 * factoring allows for a batch.
 *
 * The sums over all workers are kept up to date, so the cost of a chunk does not depend on the number of workers. */
#include "common/sched/af.h"
#include "common/sched/learn.h"
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

#include <math.h>
#include <stdlib.h>

enum { PARAM_RESTART, PARAM_FIRST };

const struct technique_param af_params[] = {
    [PARAM_RESTART] = LEARN_RESTART_PARAM,
    [PARAM_FIRST] = {.name = "first",
                     .kind = SCHED_PARAM_INTEGER,
                     .fallback = "ceil(N/(64P))",
                     .minimum = 1,
                     .maximum = (double)SCHED_ITERATIONS_MAX,
                     .summary = "size of the chunks of a worker that is not measured yet, iterations"},
    {.name = NULL},
};

/* The first chunks of all workers together take 1/FIRST_PART of the loop. These chunks are large enough for a useful
 * measurement. They are so small that even a worker with 1/64 of the average speed does not delay the end of the
 * loop. */
#define FIRST_PART 64

struct af_worker {
    struct learn_worker history;
    double mean;   /* mu_p in seconds; 0: not measured */
    double speed;  /* 1 / mu_p */
    double spread; /* sigma_p^2 / mu_p */
};

struct af {
    bool total;
    double restart;
    unsigned measured;
    struct learn_sum speeds, spreads;
    struct af_worker workers[];
};

static int af_init(struct sched *sched, struct error *error)
{
    double restart;
    if (learn_restart(sched, PARAM_RESTART, &restart, error) < 0)
        return -1;
    struct af *af = calloc(1, sizeof *af + sched->workers * sizeof *af->workers);
    if (af == NULL)
        return error_set(error, "technique %s: out of memory for %u workers", sched->technique->name, sched->workers);
    af->restart = restart;
    sched->own = af;
    return 0;
}

int maf_init(struct sched *sched, struct error *error)
{
    if (af_init(sched, error) < 0)
        return -1;
    ((struct af *)sched->own)->total = true;
    return 0;
}

static void af_forget(struct af *af, const struct af_worker *worker)
{
    af->measured--;
    learn_sum_add(&af->speeds, -worker->speed);
    learn_sum_add(&af->spreads, -worker->spread);
}

void af_feedback(struct sched *sched, const struct sched_feedback *feedback)
{
    struct af *af = sched->own;
    struct af_worker *worker = &af->workers[feedback->worker];
    struct sched_feedback counted = *feedback;
    struct learn_chunk chunk;
    double variance;
    if (af->total)
        counted.compute_s += feedback->wait_s;
    if (!learn_chunk_of(&chunk, &counted, false))
        return;
    if (worker->mean > 0)
        af_forget(af, worker);
    learn_worker_add(&worker->history, &chunk, af->restart);
    learn_worker_moments(&worker->history, &worker->mean, &variance);
    worker->speed = 1 / worker->mean;
    worker->spread = variance / worker->mean;
    learn_sum_add(&af->speeds, worker->speed);
    learn_sum_add(&af->spreads, worker->spread);
    af->measured++;
}

/* Computes the formula of af_next() in double-double arithmetic. Few chunks need this precision. */
__attribute__((noinline, cold)) static uint64_t af_chunk_exactly(uint64_t remaining, double d, double speeds,
                                                                 double mean, bool up)
{
    struct twofold spread = twofold_of(d), er = twofold_divide(twofold_of_integer(remaining), twofold_of(speeds));
    struct twofold twice = twofold_add(er, er), four = twofold_add(twice, twice);
    struct twofold root = twofold_root(twofold_multiply(spread, twofold_add(spread, four)));
    struct twofold below = twofold_multiply(twofold_of(mean), twofold_add(spread, twofold_add(twice, root)));
    struct twofold chunk = twofold_divide(twofold_multiply(twice, er), below);
    return up ? ceil_to_integer(chunk, DOUBLE_DOUBT) : floor_twofold(chunk, DOUBLE_DOUBT);
}

/* K = (D + 2ER - sqrt(D^2 + 4DER)) / (2 mu_p) with D = sum(sigma_p^2/mu_p) and E = 1/sum(1/mu_p), [DCA] eq 11.
 * The code computes 2 (ER)^2 / (mu_p (D + 2ER + sqrt(D^2 + 4DER))), which is equal and avoids cancellation. In
 * the sums, workers without a measurement count as the mean of the measured workers. */
uint64_t af_next(struct sched *sched, unsigned worker)
{
    const struct af *af = sched->own;
    double mean = af->workers[worker].mean;
    if (mean == 0)
        return param_integer(sched, PARAM_FIRST, ceil_div(sched->iterations, FIRST_PART * (uint64_t)sched->workers));
    double all = (double)sched->workers / af->measured;
    double d = fmax(learn_sum_value(&af->spreads), 0) * all, speeds = learn_sum_value(&af->speeds) * all;
    double er = (double)sched->remaining / speeds;
    double chunk = 2 * er * er / (mean * (d + 2 * er + sqrt(d * d + 4 * d * er)));
    if (doubles_do(chunk))
        return (uint64_t)(int64_t)chunk + af->total;
    return af_chunk_exactly(sched->remaining, d, speeds, mean, af->total);
}

/* Returns (1/mu_p) / mean(1/mu), or 1 if the worker is not measured. */
double af_weight(const struct sched *sched, unsigned worker)
{
    const struct af *af = sched->own;
    double speed = af->workers[worker].speed;
    return speed > 0 ? speed * af->measured / learn_sum_value(&af->speeds) : 1;
}

void af_again(struct sched *sched)
{
    (void)sched;
}

const struct technique technique_af = {
    .name = "af",
    .title = "adaptive factoring",
    .rule =
        "K = (D + 2ER - sqrt(D^2 + 4DER)) / (2 mu_p), D = sum(sigma_p^2/mu_p), E = 1/sum(1/mu_p), with mean mu_p and "
        "deviation sigma_p of an iteration's time as measured of each worker; the sums are over all P workers, one "
        "that "
        "is not measured yet counts as the mean of those that are; `first` for a worker that is not measured yet",
    .source = "Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling, eq 11; Banicescu and "
              "Liu, Adaptive factoring: a dynamic scheduling method tuned to the rate of weight changes",
    .when = "nothing is known of the loop or of the workers, and both the iterations and the workers may vary",
    .params = af_params,
    .needs = SCHED_NEEDS_FEEDBACK,
    .init = af_init,
    .next = af_next,
    .from_rest = af_next,
    .feedback = af_feedback,
    .weight = af_weight,
    .again = af_again,
};
