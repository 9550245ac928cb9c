/* SPDX-License-Identifier: MIT */
/* Inside a simulated run of workers alone (DCA): what its parts share. flat.c has the run, what a worker does with the
 * answers of the counters, and the report; the others are the ways of reaching the counters: flat_window.c one-sided,
 * flat_messages.c by requests to rank 0, flat_nodes.c by the queues of the nodes. The arithmetic of a draw and the
 * queue of a node are the real ones, of common/flat.
 *
 * Model: a worker begins a draw, its access goes to the counters (to each of two, where the technique needs both), and
 * with the answer it calculates its chunk, computes it and begins the next draw. What a worker does itself, calculating
 * and delays among it, takes it longer on a slower core. Accesses happen in the order in which they come to the
 * counters. Deterministic: of what comes at one moment the lowest worker's is first. */
#pragma once

#include "common/dca/core.h"
#include "common/metrics/report.h"
#include "deploy/simulate/simulation.h"

enum flat_event_type {
    FLAT_BEGINS,   /* the worker begins a draw, or looks at its node's queue again */
    FLAT_ARRIVES,  /* its access is where the counters are */
    FLAT_FINISHES, /* its chunk is computed */
    FLAT_LOOKS,    /* rank 0 looks after the requests of the others */
};

struct flat_event {
    double at_ns;
    unsigned worker;
    enum flat_event_type type;
};

/* A worker. */
struct flat_hand {
    double way_ns;       /* from it to the counters */
    double power, carry; /* as in struct flat_core, of which all but these is the same for all */
    uint64_t rest;
    bool takes;         /* its access is the second one, which takes `size` iterations from the start of the loop */
    uint64_t size;      /* of the chunk that it takes */
    struct range chunk; /* that it computes, counted from the loop's beginning */
    unsigned behind;    /* who waits behind it for the queue of its node */
};

struct flat_run;

/* A way of reaching the counters. */
struct flat_transport {
    enum report_topology topology;
    /* -1 with one line; close() comes all the same. NULL: there is nothing to be done. */
    int (*open)(struct flat_run *run, struct error *error);
    void (*close)(struct flat_run *run);
    void (*begin)(struct flat_run *run, unsigned w, double at_ns);  /* FLAT_BEGINS */
    void (*ask)(struct flat_run *run, unsigned w, double at_ns);    /* an access leaves the worker */
    void (*arrive)(struct flat_run *run, unsigned w, double at_ns); /* FLAT_ARRIVES */
    /* What the worker's draw has come to: NULL is no chunk, for ever. */
    void (*drawn)(struct flat_run *run, unsigned w, const struct range *chunk, double at_ns);
    /* FLAT_FINISHES, FLAT_LOOKS: NULL where nobody serves others. finish() returns when the worker begins its next
     * draw, or 0 where it has come too early, and comes again. */
    double (*finish)(struct flat_run *run, unsigned w, double at_ns);
    void (*look)(struct flat_run *run, double at_ns);
};

extern const struct flat_transport flat_by_window, flat_by_messages, flat_by_nodes;

struct flat_run {
    const struct simulation *simulation;
    const struct flat_transport *transport;
    struct flat_core core; /* of whoever draws: see flat_hand */
    uint64_t counters[FLAT_COUNTERS];
    struct flat_hand *hands;              /* [workers] owned */
    struct flat_event *heap;              /* [count] the earliest first; owned */
    size_t count, capacity;               /* of it */
    struct report_worker *rows;           /* [workers] owned */
    double calculation_ns, assignment_ns; /* --inject-delay among them, on a core of speed 1 */
    double free_ns;                       /* when the counters in a window are free */
    double locked_ns;                     /* when the latest delayed assignment there is over */
    void *own;                            /* the transport's, owned by it */
    double first_ns, end_ns;              /* the first draw, the end of the last chunk; first_ns is below 0 before */
    uint64_t chunks, refills, messages, bytes;
};

/* --- flat_events.c --- */

/* At most as many as there is room for: one for each worker, and one for rank 0's looks. */
void flat_push(struct flat_run *run, double at_ns, unsigned worker, enum flat_event_type type);
struct flat_event flat_pop(struct flat_run *run);

/* --- flat.c --- */

/* The worker's first access leaves it. */
void flat_begin_access(struct flat_run *run, unsigned w, double at_ns);
/* The worker's access happens; what the counter was. */
uint64_t flat_access(struct flat_run *run, unsigned w);
/* Whether a delayed assignment is part of it: of what a draw adds to its first counter ([DCA]). */
bool flat_is_late(const struct flat_run *run, unsigned w);
/* That answer is back at the worker: it goes on. */
void flat_answered(struct flat_run *run, unsigned w, uint64_t counter, double at_ns);
/* It computes the chunk; or leaves where that is NULL. */
void flat_compute(struct flat_run *run, unsigned w, const struct range *chunk, double at_ns);

/* What takes `ns` on a core of speed 1. */
static inline double flat_on_core(const struct flat_run *run, unsigned w, double ns)
{
    return ns / run->simulation->rank_speeds[w];
}

/* Between the worker and rank 0. */
static inline double flat_latency_ns(const struct flat_run *run, unsigned w)
{
    const struct placement *placement = &run->simulation->placement;
    const unsigned *node = placement->platform_node, *node_of = placement->node_of;
    return platform_link_between(&run->simulation->platform, node[node_of[0]], node[node_of[w]])->latency_ns;
}

/* Computing of the iterations, counted from the loop's beginning. */
static inline double flat_cost_ns(const struct flat_run *run, unsigned w, uint64_t first, uint64_t count)
{
    const struct simulation *simulation = run->simulation;
    return simulation_cost_ns(simulation, simulation->plan.first + first, count) / simulation->worker_speeds[w];
}

/* --- flat_window.c, which flat_nodes.c uses as well --- */

void flat_window_ask(struct flat_run *run, unsigned w, double at_ns);
void flat_window_arrive(struct flat_run *run, unsigned w, double at_ns);
/* Sets every worker's way to the counters. */
int flat_window_open(struct flat_run *run, struct error *error);
