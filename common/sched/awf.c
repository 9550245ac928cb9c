/* SPDX-License-Identifier: MIT */
/* awf: adaptive weighted factoring for time-stepping applications, and the code that its variants share (see awf.h).
 *
 * A measurement first becomes part of the worker's pending measurement. The pending measurement is settled (added to
 * the worker's history) at the end of a period. With awf-c and awf-e it is settled at once. With awf-b and awf-d it is
 * settled at the end of the batch, or at the worker's first request in a later batch. With awf it is settled at the
 * start of the next time step. Weights are computed from settled measurements only.
 *
 * Two sums over the measured workers are kept up to date, one of their speeds and one of their powers. Therefore the
 * cost of a weight does not depend on the number of workers. */
#include "common/sched/awf.h"
#include "common/sched/batch.h"
#include "common/sched/learn.h"
#include "common/sched/technique.h"

#include <assert.h>
#include <stdlib.h>

enum { PARAM_RESTART, PARAM_VARIANT };

const struct technique_param awf_params_by_chunk[] = {
    [PARAM_RESTART] = LEARN_RESTART_PARAM,
    {.name = NULL},
};

const struct technique_param awf_params_by_batch[] = {
    [PARAM_RESTART] = LEARN_RESTART_PARAM,
    [PARAM_VARIANT] = VARIANT_PARAM("K = ceil(w_j ceil(R/(2P))); hdss: rounded down; the next chunk gets the fraction"),
    {.name = NULL},
};

struct awf_worker {
    struct learn_worker history;
    struct learn_chunk pending; /* measurement that is not settled yet; without iterations if nothing is pending */
    double speed;               /* 1/pi_j; 0: not measured */
    double weight;
    uint64_t batch;
};

struct awf {
    enum awf_period period;
    bool with_wait;
    double restart;
    struct learn_sum speeds;
    double powers;
    struct awf_worker workers[];
};

int awf_prepare(struct sched *sched, enum awf_period period, bool with_wait, struct error *error)
{
    double restart;
    if (learn_restart(sched, PARAM_RESTART, &restart, error) < 0)
        return -1;
    struct awf *awf = calloc(1, sizeof *awf + sched->workers * sizeof *awf->workers);
    if (awf == NULL)
        return error_set(error, "technique %s: out of memory for %u workers", sched->technique->name, sched->workers);
    awf->period = period;
    awf->with_wait = with_wait;
    awf->restart = restart;
    sched->own = awf;
    for (unsigned j = 0; j < sched->workers; j++)
        awf->workers[j].weight = awf_weight(sched, j);
    return 0;
}

/* A worker that is not measured gets the weight of its power, P V_j / V. The measured workers share the rest of P in
 * proportion to their speeds. awf->powers is the sum of the measured workers' powers. */
double awf_weight(const struct sched *sched, unsigned worker)
{
    const struct awf *awf = sched->own;
    double speed = awf->workers[worker].speed;
    if (speed == 0)
        return sched->workers * (sched->powers[worker] / sched->power_sum);
    return sched->workers * (speed / learn_sum_value(&awf->speeds)) * (awf->powers / sched->power_sum);
}

/* Returns the relative error of the weights. Before the first measurement the weights are computed from the
 * powers and are as exact as the powers. */
static double awf_doubt(const struct sched *sched)
{
    const struct awf *awf = sched->own;
    return awf->powers > 0 ? DOUBLE_DOUBT : sched->power_doubt;
}

static struct twofold awf_weight_meant(const struct sched *sched, unsigned worker, double weight)
{
    const struct awf *awf = sched->own;
    return awf->powers > 0 ? twofold_of(weight) : batch_power_weight(sched, worker);
}

static void awf_settle(struct sched *sched, unsigned j)
{
    struct awf *awf = sched->own;
    struct awf_worker *worker = &awf->workers[j];
    if (worker->pending.iterations == 0)
        return;
    learn_worker_add(&worker->history, &worker->pending, awf->restart);
    worker->pending = (struct learn_chunk){0};
    if (worker->speed == 0)
        awf->powers += sched->powers[j];
    else
        learn_sum_add(&awf->speeds, -worker->speed);
    worker->speed = 1 / learn_worker_pace(&worker->history);
    learn_sum_add(&awf->speeds, worker->speed);
}

/* True if a new measurement of the worker is settled at once. With awf-b and awf-d a measurement is settled at once
 * if the worker gets no more chunks of the batch in which it last got a chunk. */
static bool is_settled_at_once(const struct sched *sched, unsigned worker)
{
    const struct awf *awf = sched->own;
    const uint64_t *state = sched->state.integer;
    switch (awf->period) {
    case AWF_PER_STEP: return false;
    case AWF_PER_BATCH:
        return awf->workers[worker].batch != state[BATCH_NUMBER] || state[BATCH_LEFT] == 0 || sched->remaining == 0;
    case AWF_PER_CHUNK: break;
    }
    return true;
}

void awf_feedback(struct sched *sched, const struct sched_feedback *feedback)
{
    struct awf *awf = sched->own;
    struct learn_chunk chunk;
    if (!learn_chunk_of(&chunk, feedback, awf->with_wait))
        return;
    learn_chunk_merge(&awf->workers[feedback->worker].pending, &chunk);
    if (is_settled_at_once(sched, feedback->worker))
        awf_settle(sched, feedback->worker);
}

uint64_t awf_next_by_batch(struct sched *sched, unsigned worker)
{
    struct awf *awf = sched->own;
    struct awf_worker *asking = &awf->workers[worker];
    uint64_t chunk = batch_half(sched), batch = sched->state.integer[BATCH_NUMBER];
    if (awf->period == AWF_PER_BATCH && asking->batch != batch) {
        awf_settle(sched, worker);
        asking->weight = awf_weight(sched, worker);
        asking->batch = batch;
    }
    struct twofold weight = awf_weight_meant(sched, worker, asking->weight);
    if (sched_spec_is_paper(&sched->spec))
        return batch_weighted_up(chunk, weight, awf_doubt(sched));
    return batch_weighted(sched, chunk, weight, awf_doubt(sched));
}

/* For distributed chunk calculation, in which no process sees the end of a batch. sched->state has no current batch,
 * so each measurement is settled at once. Only the weight is constant within a batch. */
double awf_batch_weight(struct sched *sched, unsigned worker, uint64_t batch)
{
    struct awf *awf = sched->own;
    struct awf_worker *asking = &awf->workers[worker];
    assert(awf->period == AWF_PER_BATCH && sched->state.integer[BATCH_LEFT] == 0);
    if (asking->batch != batch)
        asking->weight = awf_weight(sched, worker);
    asking->batch = batch;
    return asking->weight;
}

uint64_t awf_next_by_chunk(struct sched *sched, unsigned worker)
{
    double weight = awf_weight(sched, worker);
    double about = (double)sched->remaining * weight / (2 * (double)sched->workers);
    if (doubles_do(about))
        return (uint64_t)(int64_t)about + 1;
    struct twofold share =
        twofold_multiply(twofold_of_integer(sched->remaining), awf_weight_meant(sched, worker, weight));
    return ceil_to_integer(twofold_divide(share, twofold_of(2 * (double)sched->workers)), awf_doubt(sched));
}

/* The batch number is not reset, because the first batch of a time step must have another number than the last batch
 * of the previous step. */
void awf_again(struct sched *sched)
{
    struct awf *awf = sched->own;
    for (unsigned j = 0; j < sched->workers; j++)
        awf_settle(sched, j);
    for (unsigned j = 0; j < sched->workers; j++)
        awf->workers[j].weight = awf_weight(sched, j);
    sched->state.integer[BATCH_LEFT] = 0;
    twofold_keep(sched->state.real + BATCH_CARRY, twofold_of(0));
}

static int awf_init(struct sched *sched, struct error *error)
{
    return awf_prepare(sched, AWF_PER_STEP, false, error);
}

const struct technique technique_awf = {
    .name = "awf",
    .title = "adaptive weighted factoring, weights per time step",
    .rule = AWF_BATCH_RULE "time steps k, t_k the compute time of n_k iterations",
    .source = AWF_SOURCE,
    .when = "the loop is repeated over many time steps, and the workers' speeds are not known or drift slowly",
    .params = awf_params_by_batch,
    .needs = SCHED_NEEDS_POWER | SCHED_NEEDS_FEEDBACK,
    .powers = SCHED_POWERS_BY_MEAN,
    .init = awf_init,
    .next = awf_next_by_batch,
    .feedback = awf_feedback,
    .weight = awf_weight,
    .again = awf_again,
};
