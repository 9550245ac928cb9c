/* SPDX-License-Identifier: MIT */
/* Internal interface of a simulated run without a supermaster (DCA). run.c passes events to the workers' machines
 * (common/dca/machine.h) and applies their actions. Three files model how long accesses to shared state take: window.c
 * (one-sided), coordinator.c (requests to rank 0) and queues.c (queues of the nodes). Clock and network come from a
 * backend: virtual time in virtual.c, SimGrid in deploy/simulate/simgrid/dca.c.
 *
 * Model: to draw a chunk, a worker accesses one or two counters; the technique determines how many. From the answer the
 * worker calculates its chunk. It computes the chunk and begins the next draw. All work of a rank, including
 * calculation and delays, takes longer on a slower core, and while the node of the rank is slowed down. Computing time
 * is also multiplied by the number of runnable processes on the core. Accesses take effect in the order in which they
 * arrive at the counters. Events at the same time happen in the order of the workers, so a run is deterministic.
 *
 * All workers share one dca_core, so a published measurement is learned once, at the next draw of any worker. The
 * result is the same as with a dca_core for each worker, because each worker begins a draw by exchanging
 * measurements. */
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
    DRAWING_BEGINS,
    DRAWING_ARRIVES,
    DRAWING_FINISHES,
    DRAWING_LOOKS,
    /* DRAWING_LEAVES and DRAWING_RETURNS mean that a message of the worker departs. Only SimGrid has these events. */
    DRAWING_LEAVES,
    DRAWING_RETURNS,
    DRAWING_GIVES,
};

struct drawing_worker {
    struct dca_machine machine;
    struct dca_action access;
    double way_ns;
    double due_ns;
    enum drawing_event due;
    bool is_due;
    double compute_ns;
    double waited_ns;
    double call_ns;
    double began_ns;
    double ended_ns;
    unsigned behind;
};

struct dca_run;

struct dca_backend {
    /* Schedules an event of worker `w`. A worker has one event at a time, so this replaces the earlier event.
     * DRAWING_LOOKS is an exception: it is scheduled in addition to another event. */
    void (*schedule)(struct dca_run *run, double at_ns, unsigned w, enum drawing_event type);
    void (*ask)(struct dca_run *run, unsigned w, double at_ns, double bytes);
    void (*reply)(struct dca_run *run, unsigned w, uint64_t counter, double at_ns, double bytes);
};

struct dca_model {
    enum report_topology topology;
    int (*open)(struct dca_run *run, struct error *error);
    void (*close)(struct dca_run *run);
    void (*leave)(struct dca_run *run, unsigned w, double at_ns);
    void (*arrive)(struct dca_run *run, unsigned w, double at_ns);
    /* Returns when worker `w` has received an answer, which arrives at the worker's node at `there_ns`. NULL: receiving
     * takes no time. */
    double (*received_ns)(struct dca_run *run, unsigned w, double there_ns);
    void (*drawn)(struct dca_run *run, unsigned w, double at_ns);
    /* finish() is called at DRAWING_FINISHES, and look() at DRAWING_LOOKS. Both are NULL if no worker serves others.
     * finish() returns when the worker begins its next draw. It returns 0 if the chunk ends later than planned; then it
     * is called again at the end of the chunk. */
    double (*finish)(struct dca_run *run, unsigned w, double at_ns);
    void (*look)(struct dca_run *run, double at_ns);
    void (*give)(struct dca_run *run, unsigned w, double at_ns);
};

extern const struct dca_model dca_window, dca_coordinator, dca_queues;

struct simulated_queue;

struct dca_run {
    const struct simulation *simulation;
    struct simulation_run given;
    struct perturbations perturbations;
    double fails_ns;
    unsigned failed_node;
    const struct dca_model *model;
    const struct dca_backend *backend;
    void *context;
    struct dca_core core;
    bool core_ready;
    uint64_t counters[DCA_COUNTERS];
    struct drawing_worker *workers;
    unsigned ended;
    double look_ns;
    struct report_worker *rows;
    double calculation_ns, assignment_ns;
    double free_ns;
    double locked_ns;
    struct coordinator *coordinator;
    struct simulated_queue *queues;
    unsigned *members;
    double first_ns, end_ns;
    uint64_t chunks, refills, messages, bytes, recalls, recalled;
};

int dca_run_init(struct dca_run *run, const struct simulation *simulation, const struct dca_backend *backend,
                 void *context, struct error *error);
void dca_run_fini(struct dca_run *run);
int dca_run_say(struct dca_run *run, bool failed, const char *version);
void dca_run_happen(struct dca_run *run, unsigned w, enum drawing_event type);
void dca_deliver(struct dca_run *run, unsigned w, uint64_t counter, double there_ns);
void dca_schedule(struct dca_run *run, double at_ns, unsigned w, enum drawing_event type);
uint64_t dca_access(struct dca_run *run, unsigned w);
void dca_answer(struct dca_run *run, unsigned w, uint64_t counter, double at_ns);
void dca_give(struct dca_run *run, unsigned w, const struct dca_event *event, double at_ns);

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

static inline bool dca_is_late(const struct dca_run *run, unsigned w)
{
    return run->assignment_ns > 0 && run->workers[w].access.assigns;
}

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

void queues_draw(struct dca_run *run, unsigned w, double at_ns);
void queues_publish(struct dca_run *run, unsigned w, const struct range *big, double at_ns);
void queues_await(struct dca_run *run, unsigned w);
void queues_starve(struct dca_run *run, unsigned w, double at_ns);
