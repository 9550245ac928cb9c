/* SPDX-License-Identifier: MIT */
/* --dca two-sided, simulated: rank 0 keeps the counters and answers the others' requests, between two iterations where
 * it computes: after as many as take BREAK_NS, or as --break-after says, and after each chunk. What it answers delays
 * what it computes. Without a chunk it answers at once.
 *
 * Requests that come while it answers others are answered behind them. When rank 0 looks next is found when a request
 * comes: of looks that find nothing there is no event. */
#include "deploy/simulate/flat_run.h"

#include <stdlib.h>

/* As in worker/dca/work.c; and the executor comes back every TURN_NS at least. */
#define BREAK_NS 50000.0
#define TURN_NS  2000000.0

/* What is busy with a request and its answer, sending and receiving apart: the rank that asks takes 458 ns, a bare
 * round trip at the same time 310 (tests/bench/RESULTS.md, the benchmark dca), by two. */
#define EXCHANGE_NS  74
#define ASKING_BYTES 24
#define ANSWER_BYTES 8

struct coordinator {
    unsigned *asked; /* [workers] a ring of those whose requests are here; owned */
    unsigned first, count;
    bool looks;         /* an event for that is to come */
    bool computes;      /* rank 0 has a chunk, */
    uint64_t done;      /* of which so many iterations were done */
    double resumed_ns;  /* when it began or went on with it */
    uint64_t look_done; /* and so many are when it looks */
    double served_ns;   /* until then it answers, or has something else to do than its chunk */
};

static double exchange_ns(const struct flat_run *run, unsigned w, double bytes)
{
    const struct platform_service *service = &run->simulation->platform.service;
    return flat_on_core(run, w, service->message_ns + service->byte_ns * bytes);
}

static int open_coordinator(struct flat_run *run, struct error *error)
{
    struct coordinator *own = calloc(1, sizeof *own);
    run->own = own;
    if (own != NULL)
        own->asked = calloc(run->simulation->workers, sizeof *own->asked);
    if (own == NULL || own->asked == NULL)
        return error_set(error, "out of memory for the requests of %u workers", run->simulation->workers);
    for (unsigned w = 1; w < run->simulation->workers; w++)
        run->hands[w].way_ns = flat_latency_ns(run, w);
    return 0;
}

static void close_coordinator(struct flat_run *run)
{
    struct coordinator *own = run->own;
    if (own != NULL)
        free(own->asked);
    free(own);
}

/* --- when rank 0 looks --- */

/* Iterations between two looks. */
static uint64_t iterations_between(const struct flat_run *run)
{
    const struct range *chunk = &run->hands[0].chunk;
    double iteration_ns = flat_cost_ns(run, 0, chunk->first, chunk->count) / (double)chunk->count;
    uint64_t asked = run->simulation->drawing.break_after;
    double in_turn = iteration_ns > 0 ? TURN_NS / iteration_ns : 1e9;
    double in_time = asked > 0 ? (double)asked : iteration_ns > 0 ? BREAK_NS / iteration_ns : 1e9;
    double most = in_time < in_turn ? in_time : in_turn;
    return most < 1 ? 1 : most < 1e9 ? (uint64_t)most : 1000000000;
}

/* When so many iterations of the chunk are done. */
static double done_ns(const struct flat_run *run, uint64_t done)
{
    const struct coordinator *own = run->own;
    return own->resumed_ns + flat_cost_ns(run, 0, run->hands[0].chunk.first + own->done, done - own->done);
}

/* How many are done at the first look that is not before `at_ns`; all of them: it is when the chunk is over. */
static uint64_t find_break(const struct flat_run *run, double at_ns)
{
    const struct coordinator *own = run->own;
    const uint64_t step = iterations_between(run), all = run->hands[0].chunk.count;
    uint64_t below = 0, n = 1, most = (all - own->done + step - 1) / step;
    while (n < most && done_ns(run, own->done + n * step) < at_ns) {
        below = n;
        n = n < most / 2 ? 2 * n : most;
    }
    while (n - below > 1) {
        uint64_t middle = below + (n - below) / 2;
        if (done_ns(run, middle < most ? own->done + middle * step : all) < at_ns)
            below = middle;
        else
            n = middle;
    }
    return n < most ? own->done + n * step : all;
}

static void plan_look(struct flat_run *run, double at_ns)
{
    struct coordinator *own = run->own;
    double look_ns = at_ns > own->served_ns ? at_ns : own->served_ns;
    own->look_done = own->done;
    if (own->computes && at_ns > own->served_ns) {
        own->look_done = find_break(run, at_ns);
        if (own->look_done == run->hands[0].chunk.count)
            return; /* finish() looks */
        look_ns = done_ns(run, own->look_done);
    }
    own->looks = true;
    flat_push(run, look_ns, 0, FLAT_LOOKS);
}

/* --- answering --- */

static double assign_ns(const struct flat_run *run, unsigned w)
{
    return flat_is_late(run, w) ? flat_on_core(run, 0, run->assignment_ns) : 0;
}

/* Answers all that are here. When that is done. */
static double serve(struct flat_run *run, double at_ns)
{
    struct coordinator *own = run->own;
    for (; own->count > 0; own->count--) {
        unsigned w = own->asked[own->first];
        own->first = (own->first + 1) % run->simulation->workers;
        at_ns += exchange_ns(run, 0, ASKING_BYTES) + flat_on_core(run, 0, EXCHANGE_NS) + assign_ns(run, w) +
                 exchange_ns(run, 0, ANSWER_BYTES);
        run->messages += 2;
        run->bytes += ASKING_BYTES + ANSWER_BYTES;
        flat_answered(run, w, flat_access(run, w),
                      at_ns + run->hands[w].way_ns + exchange_ns(run, w, ANSWER_BYTES) +
                          flat_on_core(run, w, EXCHANGE_NS));
    }
    own->served_ns = at_ns;
    return at_ns;
}

static void look(struct flat_run *run, double at_ns)
{
    struct coordinator *own = run->own;
    bool begins_later = own->resumed_ns > at_ns; /* its own draw is not over */
    own->looks = false;
    own->done = own->look_done;
    double served_ns = serve(run, at_ns);
    own->resumed_ns = begins_later ? own->resumed_ns + (served_ns - at_ns) : served_ns;
}

/* It has other chunks to compute, and was delayed in this one. */
static double finish(struct flat_run *run, unsigned w, double at_ns)
{
    struct coordinator *own = run->own;
    if (w != 0)
        return at_ns;
    double over_ns = done_ns(run, run->hands[0].chunk.count);
    if (over_ns > at_ns) {
        flat_push(run, over_ns, 0, FLAT_FINISHES);
        return 0;
    }
    own->computes = false;
    return serve(run, at_ns);
}

/* --- a draw --- */

static void ask(struct flat_run *run, unsigned w, double at_ns)
{
    if (w == 0)
        flat_answered(run, 0, flat_access(run, 0), at_ns + assign_ns(run, 0));
    else
        flat_push(run, at_ns + exchange_ns(run, w, ASKING_BYTES) + run->hands[w].way_ns, w, FLAT_ARRIVES);
}

static void arrive(struct flat_run *run, unsigned w, double at_ns)
{
    struct coordinator *own = run->own;
    own->asked[(own->first + own->count++) % run->simulation->workers] = w;
    if (!own->looks)
        plan_look(run, at_ns);
}

static void drawn(struct flat_run *run, unsigned w, const struct range *chunk, double at_ns)
{
    struct coordinator *own = run->own;
    flat_compute(run, w, chunk, at_ns);
    if (w != 0)
        return;
    own->computes = chunk != NULL;
    own->done = 0;
    own->resumed_ns = at_ns;
    if (chunk == NULL)
        own->served_ns = at_ns;
}

const struct flat_transport flat_by_messages = {
    .topology = REPORT_DCA_TWO_SIDED,
    .open = open_coordinator,
    .close = close_coordinator,
    .begin = flat_begin_access,
    .ask = ask,
    .arrive = arrive,
    .drawn = drawn,
    .finish = finish,
    .look = look,
};
