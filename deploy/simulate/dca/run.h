/* SPDX-License-Identifier: MIT */
/* Inside a simulated run of workers alone (DCA): what its parts share. run.c gives events to the machines of the
 * workers (common/dca/machine.h) and does their actions; window.c (one-sided), coordinator.c (by requests to rank 0)
 * and queues.c (the queues of the nodes) say how long an access to what the workers share takes. The clock and the
 * network are a backend's: virtual time in virtual.c, SimGrid in deploy/simulate/simgrid/dca.c.
 *
 * Model: a worker begins a draw, its access goes to the counters (to each of two, where the technique needs both), and
 * with the answer it calculates its chunk, computes it and begins the next draw. What a worker does itself, calculating
 * and delays among it, takes it longer on a slower core, and longer still while its node is slowed down; computing also
 * takes so many times as long as processes run on its core. Accesses happen in the order in which they come to the
 * counters. Deterministic: of what comes at one moment the lowest worker's is first.
 *
 * All workers share one core: what one of them has measured and published is learned once, at the first draw after
 * that, by whomever. Each draw begins with an exchange, so that nobody can tell that from a core for each worker. */
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
    DRAWING_BEGINS,   /* the worker begins a draw, or looks at its node's queue again */
    DRAWING_ARRIVES,  /* the worker's access is where the counters are */
    DRAWING_FINISHES, /* the worker's chunk is computed */
    DRAWING_LOOKS,    /* rank 0 looks after the requests of the others */
    DRAWING_LEAVES,   /* the worker's request sets out to rank 0, where a network carries it, as on SimGrid */
    DRAWING_RETURNS,  /* the answer sets out to the worker, where a network carries it */
    DRAWING_GIVES,    /* an iteration of the worker's chunk is over, behind which it may give up the rest */
};

struct drawing_worker {
    struct dca_machine machine;
    struct dca_action access; /* FETCH_ADD or EXCHANGE that is under way */
    double way_ns;            /* way from the worker to the counters */
    double due_ns;            /* time of the event that is scheduled for the worker */
    enum drawing_event due;   /* the event */
    bool is_due;              /* it is scheduled */
    double compute_ns;        /* time of the running chunk */
    double waited_ns;         /* time between the end of the chunk before and its start; 0: there was none */
    double call_ns;           /* time of the kernel's call, beside the costs of the iterations */
    double began_ns;          /* start of the running chunk; below 0: there was none yet */
    double ended_ns;          /* end of the chunk before */
    unsigned behind;          /* worker that waits next for the queue of the node */
};

struct dca_run;

/* The clock and the network. */
struct dca_backend {
    /* At most one event for each worker at a time, and one of rank 0's looks. A later call for a worker replaces the
     * event. */
    void (*schedule)(struct dca_run *run, double at_ns, unsigned w, enum drawing_event type);
    /* Sends `bytes` bytes from the worker to rank 0; DRAWING_ARRIVES follows. */
    void (*ask)(struct dca_run *run, unsigned w, double at_ns, double bytes);
    /* Sends the answer `counter` from rank 0 to the worker; dca_deliver() follows. */
    void (*reply)(struct dca_run *run, unsigned w, uint64_t counter, double at_ns, double bytes);
};

/* A way of reaching the counters. */
struct dca_model {
    enum report_topology topology;
    /* -1 with one line; close() comes all the same. NULL: there is nothing to be done. */
    int (*open)(struct dca_run *run, struct error *error);
    void (*close)(struct dca_run *run);
    /* The worker's access leaves it. */
    void (*leave)(struct dca_run *run, unsigned w, double at_ns);
    /* DRAWING_ARRIVES */
    void (*arrive)(struct dca_run *run, unsigned w, double at_ns);
    /* Returns when a worker has received an answer that is there at `there_ns`; NULL: at `there_ns`. */
    double (*received_ns)(struct dca_run *run, unsigned w, double there_ns);
    /* The worker has begun a chunk, or ended. */
    void (*drawn)(struct dca_run *run, unsigned w, double at_ns);
    /* DRAWING_FINISHES, DRAWING_LOOKS: NULL where nobody serves others. finish() returns when the worker begins its
     * next draw, or 0 where it has come too early, and comes again. */
    double (*finish)(struct dca_run *run, unsigned w, double at_ns);
    void (*look)(struct dca_run *run, double at_ns);
    /* DRAWING_GIVES; NULL where chunks are not cut. */
    void (*give)(struct dca_run *run, unsigned w, double at_ns);
};

extern const struct dca_model dca_window, dca_coordinator, dca_queues;

struct simulated_queue;

struct dca_run {
    const struct simulation *simulation;
    struct simulation_run given; /* events at the nodes, and the powers */
    struct perturbations perturbations;
    double fails_ns;      /* when a node fails, and the run with it; INFINITY: none does */
    unsigned failed_node; /* number of that node */
    const struct dca_model *model;
    const struct dca_backend *backend;
    void *context; /* the backend's */
    struct dca_core core;
    bool core_ready;
    uint64_t counters[DCA_COUNTERS];
    struct drawing_worker *workers;       /* [workers] owned */
    unsigned ended;                       /* workers that draw no more */
    double look_ns;                       /* time of DRAWING_LOOKS */
    struct report_worker *rows;           /* [workers] owned */
    double calculation_ns, assignment_ns; /* --inject-delay among them, on a core of speed 1 */
    double free_ns;                       /* when the counters in a window are free */
    double locked_ns;                     /* when the latest delayed assignment there is over */
    struct coordinator *coordinator;      /* owned by coordinator.c */
    struct simulated_queue *queues;       /* [nodes] owned by queues.c */
    unsigned *members;                    /* [workers] in the order of their nodes; owned by queues.c */
    double first_ns, end_ns;              /* the first draw, the end of the last chunk; first_ns is below 0 before */
    uint64_t chunks, refills, messages, bytes, recalls, recalled;
};

/* --- run.c --- */

/* -1 with one line; dca_run_fini() is due in any case. */
int dca_run_init(struct dca_run *run, const struct simulation *simulation, const struct dca_backend *backend,
                 void *context, struct error *error);
void dca_run_fini(struct dca_run *run);
/* The summary and the report. Returns the exit status. */
int dca_run_say(struct dca_run *run, bool failed, const char *version);
/* Handles the event that was scheduled for the worker, at its time: all but LEAVES and RETURNS. */
void dca_run_happen(struct dca_run *run, unsigned w, enum drawing_event type);
/* The answer of the counters has arrived at the worker, which receives it. */
void dca_deliver(struct dca_run *run, unsigned w, uint64_t counter, double there_ns);
void dca_schedule(struct dca_run *run, double at_ns, unsigned w, enum drawing_event type);
/* The worker's access happens; FETCH_ADD: what the counter was. */
uint64_t dca_access(struct dca_run *run, unsigned w);
/* The answer of the counters is back at the worker. */
void dca_answer(struct dca_run *run, unsigned w, uint64_t counter, double at_ns);
/* The machine's step at that time, and its action. */
void dca_give(struct dca_run *run, unsigned w, const struct dca_event *event, double at_ns);

/* Bytes of what the worker's access asks, and of its answer. */
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

/* True if a delayed assignment is part of the worker's access. */
static inline bool dca_is_late(const struct dca_run *run, unsigned w)
{
    return run->assignment_ns > 0 && run->workers[w].access.assigns;
}

/* Time that the worker takes from `from_ns` on for what takes `ns` on a core of speed 1. */
static inline double dca_on_core_ns(const struct dca_run *run, unsigned w, double from_ns, double ns)
{
    return perturbed_ns(&run->perturbations, w, from_ns, ns / run->simulation->rank_speeds[w]);
}

/* Returns the link between the worker and rank 0. */
static inline const struct platform_link *dca_link(const struct dca_run *run, unsigned w)
{
    const struct placement *placement = &run->simulation->placement;
    const unsigned *node = placement->platform_node, *node_of = placement->node_of;
    return platform_link_between(&run->simulation->platform, node[node_of[0]], node[node_of[w]]);
}

/* Computing of the iterations, counted from the loop's beginning, from `from_ns` on, by a call of the kernel that costs
 * `call_ns` beside them. */
static inline double dca_compute_ns(const struct dca_run *run, unsigned w, double from_ns, double call_ns,
                                    uint64_t first, uint64_t count)
{
    const struct simulation *simulation = run->simulation;
    double cost_ns = simulation_cost_ns(simulation, simulation->setup.first + first, count);
    double alone_ns = (call_ns + virtual_cost_ns(&run->given.config, cost_ns, count)) / simulation->worker_speeds[w];
    return perturbed_ns(&run->perturbations, w, from_ns, alone_ns * simulation->worker_loads[w]);
}

/* --- window.c, which queues.c uses as well --- */

void dca_window_leave(struct dca_run *run, unsigned w, double at_ns);
void dca_window_arrive(struct dca_run *run, unsigned w, double at_ns);
/* Sets every worker's way to the counters. */
int dca_window_open(struct dca_run *run, struct error *error);

/* --- queues.c --- */

/* DRAW, PUBLISH, AWAIT and STARVE of the worker. */
void queues_draw(struct dca_run *run, unsigned w, double at_ns);
void queues_publish(struct dca_run *run, unsigned w, const struct range *big, double at_ns);
void queues_await(struct dca_run *run, unsigned w);
void queues_starve(struct dca_run *run, unsigned w, double at_ns);
