/* SPDX-License-Identifier: MIT */
/* Simulated runs without a supermaster in virtual time: see run.h. A message takes only the latency of its link. */
#include "common/util/error.h"
#include "common/util/random.h"
#include "deploy/simulate/dca/run.h"
#include "deploy/simulate/virtual/heap.h"

#include <assert.h>
#include <math.h>

struct virtual_drawing {
    struct heap heap;
    uint64_t now_ns, ways;
    bool out_of_memory;
};

/* Returns a number that orders the events within one nanosecond, because the heap orders events by whole nanoseconds.
 * They are ordered by the fraction of the nanosecond in units of 2^-36 ns, then by worker, then by type. With a seed, a
 * random number replaces the index of the worker. */
static uint64_t virtual_order(uint64_t seed, double at_ns, unsigned w, enum drawing_event type)
{
    const uint64_t rest = (uint64_t)ldexp(at_ns - floor(at_ns), 36);
    const uint64_t among = seed == 0 ? w : random_at(random_at(seed, (uint64_t)at_ns), w) >> 40;
    return rest << 27 | among << 3 | type;
}

static void virtual_schedule(struct dca_run *run, double at_ns, unsigned w, enum drawing_event type)
{
    struct virtual_drawing *own = run->context;
    struct future *future = heap_new(&own->heap);
    if (future == NULL) {
        own->out_of_memory = true;
        return;
    }
    *future = (struct future){.at_ns = (uint64_t)at_ns, .rank = w, .done = type};
    own->out_of_memory |=
        heap_push_ordered(&own->heap, future, virtual_order(run->simulation->at_hand.order, at_ns, w, type)) < 0;
}

/* Returns the latency between a worker and the counters. It is the latency of the link or, with a seed, 0.5 to 1.5
 * times that latency. */
static double virtual_way_ns(struct dca_run *run, unsigned w)
{
    struct virtual_drawing *own = run->context;
    const uint64_t seed = run->simulation->at_hand.order;
    const double way_ns = run->workers[w].way_ns;
    return seed == 0 ? way_ns : way_ns * (0.5 + random_to_uniform(random_at(seed + 1, own->ways++)));
}

static void virtual_ask(struct dca_run *run, unsigned w, double at_ns, double bytes)
{
    (void)bytes;
    dca_schedule(run, at_ns + virtual_way_ns(run, w), w, DRAWING_ARRIVES);
}

static void virtual_reply(struct dca_run *run, unsigned w, uint64_t counter, double at_ns, double bytes)
{
    (void)bytes;
    dca_deliver(run, w, counter, at_ns + virtual_way_ns(run, w));
}

static bool virtual_is_due(const struct drawing_worker *worker, uint64_t at_ns, enum drawing_event type)
{
    return worker->is_due && worker->due == type && (uint64_t)worker->due_ns == at_ns;
}

static bool virtual_run_drawing(struct dca_run *run, struct virtual_drawing *own)
{
    struct future *future;
    for (unsigned w = 0; w < run->simulation->workers; w++)
        dca_schedule(run, 0, w, DRAWING_BEGINS);
    while (!own->out_of_memory && (future = heap_pop(&own->heap)) != NULL) {
        const unsigned w = future->rank;
        const enum drawing_event type = (enum drawing_event)future->done;
        assert(future->at_ns >= own->now_ns && "virtual time never goes back");
        own->now_ns = future->at_ns;
        heap_return(&own->heap, future);
        if (type != DRAWING_LOOKS && !virtual_is_due(&run->workers[w], own->now_ns, type))
            continue;
        if ((type == DRAWING_LOOKS ? run->look_ns : run->workers[w].due_ns) >= run->fails_ns)
            return true;
        if (type != DRAWING_LOOKS)
            run->workers[w].is_due = false;
        dca_run_happen(run, w, type);
    }
    return false;
}

int simulation_run_dca(struct simulation *simulation, const char *version, struct error *error)
{
    static const struct dca_backend backend = {
        .schedule = virtual_schedule, .ask = virtual_ask, .reply = virtual_reply};
    struct virtual_drawing own = {.out_of_memory = false};
    struct dca_run run;
    int status = dca_run_init(&run, simulation, &backend, &own, error);
    if (status == 0) {
        bool failed = virtual_run_drawing(&run, &own);
        status = own.out_of_memory ? error_set(error, "out of memory for what is to come")
                                   : dca_run_say(&run, failed, version);
    }
    dca_run_fini(&run);
    heap_fini(&own.heap);
    return status;
}
