/* SPDX-License-Identifier: MIT */
/* Simulation of one loop: see predict.h. */
#include "common/predict/predict.h"

#include "common/config/run_spec.h"
#include "common/sched/sched.h"
#include "common/service/pool.h"
#include "common/service/refill.h"
#include "common/util/heap.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "common/util/stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Each simulation multiplies each worker's time per iteration by a random factor, because a short probe is inexact
 * and speeds vary. The factor has mean 1 and this standard deviation. Without the factor, techniques that cannot
 * react, such as static, would seem perfect. */
#define SPEED_UNCERTAINTY 0.02

/* The result is averaged over RUNS simulations. From WORKERS_MANY workers on RUNS_MANY simulations are enough,
 * because each simulation already averages over the workers. */
#define RUNS         8
#define RUNS_MANY    2
#define WORKERS_MANY 64

/* Fraction of a round trip during which a request keeps the master busy. A round trip has four steps: two messages are
 * each sent and received. One of these steps, sending the answer, keeps the master busy. */
#define BUSY_SHARE 0.25

#define LEAD_ROUND_TRIPS 2

#define PIECES 8

/* With recall, a random time is drawn for each iteration, and all techniques get the same times. A loop with more
 * than CELLS_MAX iterations is divided into CELLS_MAX groups, and a time is drawn for each group. */
#define CELLS_MAX 2048

/* Number of round trips for which an idle worker waits for recalled work. Four messages are sent: the request,
 * RECALL, RETURNED and ASSIGN. */
#define RECALL_ROUND_TRIPS 2

/* Recalls at the end of the loop are simulated until the finishing times of all workers differ by at most
 * LEFTOVERS_PART of the latest one. At most LEFTOVERS_TURNS recalls per worker are simulated. */
#define LEFTOVERS_PART  0.002
#define LEFTOVERS_TURNS 16

#define SEED 20010101

struct client {
    double asks_at;
    double begins_at, ends_at;
    uint64_t first;
    double waited_s, took_s;
    uint64_t running; /* number of iterations of the latest chunk; 0: no chunk yet */
    /* feedback that the technique has not received yet, because the worker has requested its next chunk ahead; 0
     * iterations: there is none */
    struct sched_feedback said;
};

struct handler {
    struct pool pool;
    double free_at;
};

struct simulation {
    const struct predict_loop *loop;
    struct sched sched;
    struct random random;
    struct client *clients;
    double *pace_s; /* [workers] mean time of an iteration on each worker; owned */
    /* [cells + 1] the work before each group of iterations, in units of the mean work of one iteration; owned */
    double *work;
    unsigned cells; /* number of groups of iterations for which times are drawn; 0: times are drawn for whole chunks */
    unsigned *heap;
    unsigned heap_count;
    struct handler *handlers;
    unsigned handler_count;
    unsigned *served, *first_served; /* `served` lists the workers of handler m from index first_served[m] on; owned */
    double busy_s;
    bool learns;
    uint64_t chunks;
};

/* Returns a random number with a standard normal distribution, by the polar method (Marsaglia and Bray 1964). */
static double predict_normal(struct random *random)
{
    double u, v, s;
    do {
        u = 2 * random_uniform(random) - 1;
        v = 2 * random_uniform(random) - 1;
        s = u * u + v * v;
    } while (s >= 1 || s == 0);
    return u * sqrt(-2 * log(s) / s);
}

/* Returns a random number with a gamma distribution of the given shape and of scale 1 (Marsaglia and Tsang 2000). */
static double gamma_variate(struct random *random, double shape)
{
    if (shape < 1)
        return gamma_variate(random, shape + 1) * pow(1 - random_uniform(random), 1 / shape);
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = predict_normal(random), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        double u = 1 - random_uniform(random);
        if (log(u) < x * x / 2 + d - d * v + d * log(v))
            return d * v;
    }
}

static void predict_simulation_fini(struct simulation *simulation)
{
    for (unsigned m = 0; simulation->handlers != NULL && m < simulation->handler_count; m++)
        pool_fini(&simulation->handlers[m].pool);
    free(simulation->handlers);
    free(simulation->clients);
    free(simulation->pace_s);
    free(simulation->work);
    free(simulation->heap);
    free(simulation->served);
    free(simulation->first_served);
    sched_fini(&simulation->sched);
}

static unsigned handler_of(const struct predict_loop *loop, unsigned w)
{
    return loop->masters > 0 ? loop->master_of[w] : 0;
}

static void sort_workers(struct simulation *simulation)
{
    const struct predict_loop *loop = simulation->loop;
    unsigned *first = simulation->first_served;
    for (unsigned w = 0; w < loop->workers; w++)
        first[handler_of(loop, w) + 1]++;
    for (unsigned m = 0; m < simulation->handler_count; m++)
        first[m + 1] += first[m];
    for (unsigned w = loop->workers; w-- > 0;)
        simulation->served[--first[handler_of(loop, w) + 1]] = w;
    for (unsigned m = 0; m < simulation->handler_count; m++)
        first[m] = first[m + 1];
    first[simulation->handler_count] = loop->workers;
}

static unsigned served_count(const struct simulation *simulation, unsigned m)
{
    return simulation->first_served[m + 1] - simulation->first_served[m];
}

static bool asks_ahead(const struct simulation *simulation)
{
    return simulation->loop->spec->ask_ahead != ASK_AHEAD_OFF;
}

static unsigned predict_refill_size(const struct simulation *simulation, unsigned m)
{
    return served_count(simulation, m) * simulation->loop->spec->refill_chunks;
}

static int predict_allocate(struct simulation *simulation)
{
    unsigned workers = simulation->loop->workers;
    uint64_t iterations = simulation->loop->iterations;
    if (simulation->loop->spec->recall == RUN_RECALL_ON)
        simulation->cells = iterations < CELLS_MAX ? (unsigned)iterations : CELLS_MAX;
    simulation->work = calloc(simulation->cells + 1, sizeof *simulation->work);
    simulation->handler_count = simulation->loop->masters > 0 ? simulation->loop->masters : 1;
    simulation->clients = calloc(workers, sizeof *simulation->clients);
    simulation->pace_s = calloc(workers, sizeof *simulation->pace_s);
    simulation->heap = calloc(workers, sizeof *simulation->heap);
    simulation->served = calloc(workers, sizeof *simulation->served);
    simulation->first_served = calloc(simulation->handler_count + 2, sizeof *simulation->first_served);
    simulation->handlers = calloc(simulation->handler_count, sizeof *simulation->handlers);
    if (!simulation->clients || !simulation->pace_s || !simulation->heap || !simulation->served ||
        !simulation->first_served || !simulation->handlers || !simulation->work)
        return -1;
    sort_workers(simulation);
    for (unsigned m = 0; m < simulation->handler_count; m++)
        if (pool_init(&simulation->handlers[m].pool, workers, predict_refill_size(simulation, m) + 1) < 0)
            return -1;
    return 0;
}

static int prepare_sched(struct simulation *simulation, const struct sched_spec *spec, struct error *error)
{
    const struct predict_loop *loop = simulation->loop;
    const enum sched_weighting weighting =
        loop->spec->weighting != SCHED_WEIGHTING_NONE ? SCHED_WEIGHTING_POWER : SCHED_WEIGHTING_NONE;
    double *speeds = simulation->pace_s;
    for (unsigned w = 0; w < loop->workers; w++)
        speeds[w] = loop->speeds != NULL ? loop->speeds[w] : 1 / loop->mean_s[w];
    sched_powers_from_speeds(spec->technique, weighting, speeds, loop->workers, speeds);
    const struct sched_config config = {
        .iterations = loop->iterations,
        .workers = loop->workers,
        .powers = speeds,
        .min_chunk = loop->spec->min_chunk,
        .max_chunk = loop->spec->max_chunk,
        .weighting = weighting,
        .overhead_s = loop->round_trip_s,
        .swr = loop->swr,
    };
    return sched_init(&simulation->sched, spec, &config, error);
}

static void draw_work(struct simulation *simulation)
{
    const struct predict_loop *loop = simulation->loop;
    double whole = (double)loop->iterations, cov = loop->profile.cov, cells = simulation->cells;
    double shape = cov > 0 ? whole / cells / (cov * cov) : INFINITY, before = 0;
    for (unsigned k = 0; k < simulation->cells; k++) {
        double factor = isfinite(shape) ? gamma_variate(&simulation->random, shape) / shape : 1;
        double until = profile_work(&loop->profile, (k + 1) / cells);
        simulation->work[k + 1] = simulation->work[k] + whole * fmax(until - before, 0) * factor;
        before = until;
    }
}

static int simulation_init(struct simulation *simulation, const struct predict_loop *loop,
                           const struct sched_spec *spec, unsigned run, struct error *error)
{
    *simulation = (struct simulation){
        .loop = loop,
        .busy_s = BUSY_SHARE * loop->round_trip_s * fmax(loop->clients, 1),
        .learns = sched_spec_learns(spec),
    };
    random_init(&simulation->random, SEED + run);
    if (predict_allocate(simulation) < 0) {
        error_set(error, "out of memory for predicting %u workers", loop->workers);
    } else if (prepare_sched(simulation, spec, error) == 0) {
        for (unsigned w = 0; w < loop->workers; w++) {
            double off = 1 + SPEED_UNCERTAINTY * predict_normal(&simulation->random);
            simulation->pace_s[w] = loop->mean_s[w] * fmax(off, 0.5);
            simulation->heap[w] = w;
        }
        simulation->heap_count = loop->workers;
        draw_work(simulation);
        return 0;
    }
    predict_simulation_fini(simulation);
    return -1;
}

static bool asks_before(const void *worker, const void *other, const void *context)
{
    const struct client *clients = context;
    return clients[*(const unsigned *)worker].asks_at < clients[*(const unsigned *)other].asks_at;
}

static const struct heap_kind by_asking = {sizeof(unsigned), 2, asks_before};

static void sift_first(struct simulation *simulation)
{
    heap_sift_down(&by_asking, simulation->clients, simulation->heap, simulation->heap_count, 0);
}

static void remove_first(struct simulation *simulation)
{
    simulation->heap[0] = simulation->heap[--simulation->heap_count];
    if (simulation->heap_count > 0)
        sift_first(simulation);
}

static bool predict_cut(struct simulation *simulation, struct handler *handler, unsigned w)
{
    struct range range;
    if (!sched_cut(&simulation->sched, w, &range))
        return false;
    assert(range.count > 0 && w < simulation->sched.workers && "a chunk has iterations and a worker");
    simulation->chunks++;
    return pool_put(&handler->pool, w, range);
}

struct predicted_refill {
    struct simulation *simulation;
    unsigned m;
};

static bool predict_refill_cut(void *context, unsigned i)
{
    const struct predicted_refill *refill = context;
    struct simulation *simulation = refill->simulation;
    unsigned w = simulation->served[simulation->first_served[refill->m] + i];
    return predict_cut(simulation, &simulation->handlers[refill->m], w);
}

static void predict_refill(struct simulation *simulation, unsigned m, unsigned w)
{
    struct predicted_refill refill = {simulation, m};
    if (simulation->loop->masters == 0)
        predict_cut(simulation, &simulation->handlers[m], w);
    else
        refill_cut(served_count(simulation, m), predict_refill_size(simulation, m), predict_refill_cut, &refill);
}

static bool predict_hand_out(struct simulation *simulation, unsigned w, struct range *range, double *has_at)
{
    double trip = simulation->loop->round_trip_s;
    unsigned m = handler_of(simulation->loop, w);
    struct handler *handler = &simulation->handlers[m];
    double at = fmax(simulation->clients[w].asks_at + trip / 2, handler->free_at);
    if (handler->pool.count == 0) {
        predict_refill(simulation, m, w);
        at += simulation->loop->masters > 0 ? trip : 0;
    }
    if (!pool_take(&handler->pool, w, range))
        return false;
    handler->free_at = at + simulation->busy_s;
    *has_at = at + trip / 2;
    return true;
}

static double work_before(const struct simulation *simulation, uint64_t i)
{
    double place = (double)i * simulation->cells / (double)simulation->loop->iterations;
    unsigned k = place < simulation->cells ? (unsigned)place : simulation->cells - 1;
    return simulation->work[k] + (place - k) * (simulation->work[k + 1] - simulation->work[k]);
}

static uint64_t first_unbegun(const struct simulation *simulation, double done)
{
    /* Binary search. If `done` is below work[cells], then work[low] <= done < work[high] always holds. */
    unsigned low = 0, high = simulation->cells;
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        *(simulation->work[middle] <= done ? &low : &high) = middle;
    }
    double cell = simulation->work[high] - simulation->work[low];
    double place = low + (cell > 0 ? fmin((done - simulation->work[low]) / cell, 1) : 0);
    return (uint64_t)(place * (double)simulation->loop->iterations / simulation->cells) + 1;
}

static double chunk_seconds(struct simulation *simulation, unsigned w, const struct range *range)
{
    const struct predict_loop *loop = simulation->loop;
    if (simulation->cells > 0)
        return simulation->pace_s[w] *
               (work_before(simulation, range->first + range->count) - work_before(simulation, range->first));
    double whole = (double)loop->iterations, count = (double)range->count, cov = loop->profile.cov;
    double work = profile_work(&loop->profile, (double)(range->first + range->count) / whole) -
                  profile_work(&loop->profile, (double)range->first / whole);
    double shape = cov > 0 ? count / (cov * cov) : INFINITY;
    double factor = isfinite(shape) ? gamma_variate(&simulation->random, shape) / shape : 1;
    return fmax(work, 0) * whole * simulation->pace_s[w] * factor;
}

static void predict_say(struct simulation *simulation, struct sched_feedback *feedback)
{
    if (feedback->iterations > 0)
        sched_feedback(&simulation->sched, feedback);
    feedback->iterations = 0;
}

/* Returns the feedback on the worker's chunk. A real worker estimates the deviation from a few pieces of the chunk,
 * so the simulated estimate is random, too. The square of the estimate is the true variance, multiplied by a random
 * number with chi-square distribution and divided by its degrees of freedom. */
static struct sched_feedback feedback_of(struct simulation *simulation, unsigned w)
{
    const struct client *client = &simulation->clients[w];
    double iterations = client->running > 0 ? (double)client->running : 1, cov = simulation->loop->profile.cov;
    double freedom = fmin(iterations, PIECES) - 1;
    if (cov > 0 && freedom > 0)
        cov *= sqrt(gamma_variate(&simulation->random, freedom / 2) / (freedom / 2));
    return (struct sched_feedback){
        .worker = w,
        .chunks = 1,
        .iterations = client->running,
        .compute_s = client->took_s,
        .wait_s = client->waited_s,
        .deviation_s = cov * client->took_s / iterations,
        .samples = client->running < PIECES ? (uint32_t)client->running : PIECES,
    };
}

static void predict_run_chunk(struct simulation *simulation, unsigned w, const struct range *range, double has_at)
{
    struct client *client = &simulation->clients[w];
    double begins_at = fmax(client->ends_at, has_at);
    bool first = client->running == 0;
    client->waited_s = first ? 0 : begins_at - client->ends_at;
    client->took_s = chunk_seconds(simulation, w, range);
    client->first = range->first;
    client->running = range->count;
    client->begins_at = begins_at;
    client->ends_at = begins_at + client->took_s;
    double lead = asks_ahead(simulation) ? LEAD_ROUND_TRIPS * simulation->loop->round_trip_s : 0;
    client->asks_at = fmax(begins_at, client->ends_at - lead);
}

static void predict_tell(struct simulation *simulation, unsigned w)
{
    struct client *client = &simulation->clients[w];
    struct sched_feedback running = feedback_of(simulation, w);
    if (asks_ahead(simulation)) {
        predict_say(simulation, &client->said);
        client->said = running;
    } else {
        predict_say(simulation, &running);
    }
}

static void serve_next(struct simulation *simulation, double *last)
{
    unsigned w = simulation->heap[0];
    struct client *client = &simulation->clients[w];
    struct range range;
    double has_at;
    if (simulation->learns)
        predict_tell(simulation, w);
    if (predict_hand_out(simulation, w, &range, &has_at)) {
        predict_run_chunk(simulation, w, &range, has_at);
        sift_first(simulation);
    } else {
        *last = fmax(*last, client->ends_at);
        remove_first(simulation);
    }
}

/* Moves iterations from the other worker to the idle worker. The other worker answers at the end of an iteration, and
 * then gives half of the iterations that it has not begun. The first iteration of a chunk counts as begun. Returns
 * false if the other worker has no iterations to give. */
static bool predict_recall(struct simulation *simulation, unsigned idle, unsigned other)
{
    struct client *to = &simulation->clients[idle], *from = &simulation->clients[other];
    double trip = simulation->loop->round_trip_s, asked = to->ends_at + RECALL_ROUND_TRIPS / 2.0 * trip;
    uint64_t end = from->first + from->running, begin = from->first + 1;
    if (asked > from->begins_at) {
        double before = work_before(simulation, from->first), pace_s = simulation->pace_s[other];
        uint64_t next = first_unbegun(simulation, before + (asked - from->begins_at) / pace_s);
        begin = next > begin ? next : begin;
        asked = fmax(asked, from->begins_at + (work_before(simulation, begin < end ? begin : end) - before) * pace_s);
    }
    uint64_t count = begin < end ? (end - begin + 1) / 2 : 0;
    if (count == 0)
        return false;
    double arrives = asked + RECALL_ROUND_TRIPS / 2.0 * trip;
    const struct range moved = {end - count, count}, kept = {from->first, from->running - count};
    double takes = chunk_seconds(simulation, idle, &moved);
    from->running = kept.count;
    from->ends_at = from->begins_at + chunk_seconds(simulation, other, &kept);
    *to = (struct client){.begins_at = arrives, .ends_at = arrives + takes, .first = moved.first, .running = count};
    return true;
}

/* Simulates the recalls after the last assignment, and returns the end of the loop. In each recall the worker that
 * finishes first gets a part of the chunk of the worker that finishes last. If a worker has nothing to give, its
 * `running` is set to 0. */
static double predict_leftovers(struct simulation *simulation)
{
    struct client *clients = simulation->clients;
    unsigned workers = simulation->loop->workers;
    double last = 0;
    for (uint64_t moves = 0; simulation->cells > 0 && moves < LEFTOVERS_TURNS * (uint64_t)workers; moves++) {
        unsigned idle = 0, other = workers;
        for (unsigned w = 0; w < workers; w++) {
            idle = clients[w].ends_at < clients[idle].ends_at ? w : idle;
            if (clients[w].running > 0 && (other == workers || clients[w].ends_at > clients[other].ends_at))
                other = w;
        }
        if (other == workers ||
            clients[other].ends_at - clients[idle].ends_at <= LEFTOVERS_PART * clients[other].ends_at)
            break;
        if (!predict_recall(simulation, idle, other))
            clients[other].running = 0;
    }
    for (unsigned w = 0; w < workers; w++)
        last = fmax(last, clients[w].ends_at);
    return last;
}

static int simulate(const struct predict_loop *loop, const struct sched_spec *spec, unsigned run, uint64_t chunks_max,
                    double *seconds, uint64_t *chunks, struct error *error)
{
    struct simulation simulation;
    if (simulation_init(&simulation, loop, spec, run, error) < 0)
        return -1;
    double last = 0;
    while (simulation.heap_count > 0 && simulation.chunks <= chunks_max)
        serve_next(&simulation, &last);
    int result = simulation.chunks > chunks_max;
    if (result == 0)
        *seconds = simulation.cells > 0 ? predict_leftovers(&simulation) : last;
    if (simulation.sched.failure != NULL)
        result = error_set(error, "%s", simulation.sched.failure);
    *chunks += simulation.chunks;
    predict_simulation_fini(&simulation);
    return result;
}

int predict_seconds(const struct predict_loop *loop, const struct sched_spec *spec, uint64_t chunks_max,
                    double *seconds, struct error *error)
{
    unsigned runs = loop->workers < WORKERS_MANY ? RUNS : RUNS_MANY;
    uint64_t chunks = 0;
    struct stats all;
    stats_init(&all);
    for (unsigned run = 0; run < runs && (run == 0 || chunks < chunks_max); run++) {
        double one = 0;
        int result = simulate(loop, spec, run, chunks_max, &one, &chunks, error);
        if (result != 0)
            return result;
        stats_add(&all, one);
    }
    *seconds = all.mean + stats_deviation(&all);
    return 0;
}

double predict_least_seconds(const struct predict_loop *loop)
{
    double speed = 0;
    for (unsigned w = 0; w < loop->workers; w++)
        speed += 1 / loop->mean_s[w];
    return (double)loop->iterations / speed;
}
