/* SPDX-License-Identifier: MIT */
/* Internal interface of a simulated run without a supermaster (DCA). run.c passes events to the workers' machines
 * (common/dca/machine.h) and applies their actions; window.c (one-sided), coordinator.c (requests to rank 0) and
 * queues.c (queues of the nodes) model the duration of accesses to shared state. Clock and network come from a backend:
 * virtual time in virtual.c, SimGrid in deploy/simulate/simgrid/dca.c.
 *
 * Model: a worker begins a draw, its access goes to the counters (to both of two, if the technique needs them), and
 * with the answer it calculates its chunk, computes it and begins the next draw. The worker's own actions, including
 * calculation and delays, take longer on a slower core and while its node is slowed down; computing is also multiplied
 * by the number of processes on its core. Accesses happen in order of arrival at the counters. Deterministic: at equal
 * times the lowest worker is first.
 *
 * All workers share one dca_core: published measurements are learned once, at the first following draw of any worker.
 * Each draw begins with an exchange, so this is equivalent to a dca_core per worker. */
#pragma once

#include "common/dca/core.h"
#include "common/dca/machine.h"
#include "common/job/job_setup.h"
#include "common/metrics/report.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "deploy/simulate/backend.h"
#include "deploy/simulate/virtual/perturb.h"

enum drawing_event {
    DRAWING_BEGINS,   /* the worker begins a draw, or checks its node's queue again */
    DRAWING_ARRIVES,  /* the worker's access reaches the counters */
    DRAWING_FINISHES, /* the worker's chunk is computed */
    DRAWING_LOOKS,    /* rank 0 checks for requests */
    DRAWING_LEAVES,   /* the worker's request departs to rank 0, if a network transports it (SimGrid) */
    DRAWING_RETURNS,  /* the answer departs to the worker, if a network transports it */
    DRAWING_GIVES,    /* the end of an iteration after which the worker may give up the rest of its chunk */
};

struct drawing_worker {
    struct dca_machine machine;
    struct dca_action access; /* FETCH_ADD or EXCHANGE in progress */
    double way_ns;            /* latency from the worker to the counters */
    double due_ns;            /* time of the scheduled event */
    enum drawing_event due;
    bool is_due;
    double compute_ns;
    double waited_ns; /* between the end of the previous chunk and its start; 0: none */
    double call_ns;   /* cost of the kernel call, in addition to the iterations */
    double began_ns;  /* start of the running chunk; negative: none yet */
    double ended_ns;  /* end of the previous chunk */
    unsigned behind;  /* next worker waiting for the node's queue */
};

struct dca_run;

/* Clock and network. */
struct dca_backend {
    /* Schedules at most one event per worker, replacing an earlier one, and one check of rank 0. */
    void (*schedule)(struct dca_run *run, double at_ns, unsigned w, enum drawing_event type);
    /* Sends `bytes` from the worker to rank 0; DRAWING_ARRIVES follows. */
    void (*ask)(struct dca_run *run, unsigned w, double at_ns, double bytes);
    /* Sends the answer `counter` from rank 0 to the worker; dca_deliver() follows. */
    void (*reply)(struct dca_run *run, unsigned w, uint64_t counter, double at_ns, double bytes);
};

/* How access to the counters is simulated. */
struct dca_model {
    enum report_topology topology;
    /* On failure close() is called as well. May be NULL. */
    int (*open)(struct dca_run *run, struct error *error);
    void (*close)(struct dca_run *run);
    /* The worker's access departs. */
    void (*leave)(struct dca_run *run, unsigned w, double at_ns);
    /* DRAWING_ARRIVES */
    void (*arrive)(struct dca_run *run, unsigned w, double at_ns);
    /* When a worker has received an answer that arrives at `there_ns`; NULL: at `there_ns`. */
    double (*received_ns)(struct dca_run *run, unsigned w, double there_ns);
    /* The worker has begun a chunk, or ended. */
    void (*drawn)(struct dca_run *run, unsigned w, double at_ns);
    /* DRAWING_FINISHES, DRAWING_LOOKS; NULL if no worker serves others. finish() returns the start of the worker's next
     * draw, or 0 if it was called too early and will be called again. */
    double (*finish)(struct dca_run *run, unsigned w, double at_ns);
    void (*look)(struct dca_run *run, double at_ns);
    /* DRAWING_GIVES; NULL if chunks are not cut. */
    void (*give)(struct dca_run *run, unsigned w, double at_ns);
};

extern const struct dca_model dca_window, dca_coordinator, dca_queues;

struct simulated_queue;

struct dca_run {
    const struct simulation *simulation;
    struct simulation_run given; /* events of the nodes, and powers */
    struct perturbations perturbations;
    double fails_ns; /* when a node fails and ends the run; INFINITY: never */
    unsigned failed_node;
    const struct dca_model *model;
    const struct dca_backend *backend;
    void *context;
    struct dca_core core;
    bool core_ready;
    uint64_t counters[DCA_COUNTERS];
    struct drawing_worker *workers; /* [workers] owned */
    unsigned ended;                 /* workers that draw no more */
    double look_ns;
    struct report_worker *rows;           /* [workers] owned */
    double calculation_ns, assignment_ns; /* including --inject-delay, on a core of speed 1 */
    double free_ns;                       /* when the counters in a window become free */
    double locked_ns;                     /* end of the last delayed assignment there */
    struct coordinator *coordinator;      /* owned by coordinator.c */
    struct simulated_queue *queues;       /* [nodes] owned by queues.c */
    unsigned *members;                    /* [workers] by node; owned by queues.c */
    double first_ns, end_ns;              /* first draw (negative before), end of the last chunk */
    uint64_t chunks, refills, messages, bytes, recalls, recalled;
};

/* dca_run_fini() must be called in any case. */
int dca_run_init(struct dca_run *run, const struct simulation *simulation, const struct dca_backend *backend,
                 void *context, struct error *error);
void dca_run_fini(struct dca_run *run);
/* Writes summary and report. Returns the exit status. */
int dca_run_say(struct dca_run *run, bool failed, const char *version);
/* Handles a due event of a worker, except LEAVES and RETURNS. */
void dca_run_happen(struct dca_run *run, unsigned w, enum drawing_event type);
/* The counters' answer arrives at the worker, which receives it. */
void dca_deliver(struct dca_run *run, unsigned w, uint64_t counter, double there_ns);
void dca_schedule(struct dca_run *run, double at_ns, unsigned w, enum drawing_event type);
/* Performs the worker's access; FETCH_ADD: returns the previous value. */
uint64_t dca_access(struct dca_run *run, unsigned w);
/* The worker has received the counters' answer. */
void dca_answer(struct dca_run *run, unsigned w, uint64_t counter, double at_ns);
void dca_give(struct dca_run *run, unsigned w, const struct dca_event *event, double at_ns);

/* Sizes of an access and its answer. */
static inline double dca_asked_bytes(const struct dca_run *run, unsigned w, double plain)
{
    return run->workers[w].access.type == DCA_ACTION_EXCHANGE ? plain + sizeof(struct dca_measured) : plain;
}

static inline double dca_answer_bytes(const struct dca_run *run, unsigned w, double plain)
{
    return run->workers[w].access.type == DCA_ACTION_EXCHANGE
               ? (double)run->simulation->workers * sizeof(struct dca_measured)
               : plain;
}

/* True if the access includes a delayed assignment. */
static inline bool dca_is_late(const struct dca_run *run, unsigned w)
{
    return run->assignment_ns > 0 && run->workers[w].access.assigns;
}

/* Duration, from `from_ns` on, of work that takes `ns` on a core of speed 1. */
static inline double dca_on_core_ns(const struct dca_run *run, unsigned w, double from_ns, double ns)
{
    return perturbed_ns(&run->perturbations, w, from_ns, ns / run->simulation->rank_speeds[w]);
}

static inline const struct platform_link *dca_link(const struct dca_run *run, unsigned w)
{
    const struct placement *placement = &run->simulation->placement;
    const unsigned *node = placement->platform_node, *node_of = placement->node_of;
    return platform_link_between(&run->simulation->platform, node[node_of[0]], node[node_of[w]]);
}

/* Duration from `from_ns` on of iterations of the loop in a kernel call with additional cost `call_ns`. */
static inline double dca_compute_ns(const struct dca_run *run, unsigned w, double from_ns, double call_ns,
                                    uint64_t first, uint64_t count)
{
    const struct simulation *simulation = run->simulation;
    double cost_ns = simulation_cost_ns(simulation, simulation->setup.first + first, count);
    double alone_ns = (call_ns + virtual_cost_ns(&run->given.config, cost_ns, count)) / simulation->worker_speeds[w];
    return perturbed_ns(&run->perturbations, w, from_ns, alone_ns * simulation->worker_loads[w]);
}

void dca_window_leave(struct dca_run *run, unsigned w, double at_ns);
void dca_window_arrive(struct dca_run *run, unsigned w, double at_ns);
int dca_window_open(struct dca_run *run, struct error *error);

/* DRAW, PUBLISH, AWAIT and STARVE of the worker. */
void queues_draw(struct dca_run *run, unsigned w, double at_ns);
void queues_publish(struct dca_run *run, unsigned w, const struct range *big, double at_ns);
void queues_await(struct dca_run *run, unsigned w);
void queues_starve(struct dca_run *run, unsigned w, double at_ns);
