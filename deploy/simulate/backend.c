/* SPDX-License-Identifier: MIT */
/* Prepares a simulated run for either backend: see backend.h. */
#include "deploy/simulate/backend.h"

#include "common/config/job.h"
#include "common/job/job_setup.h"
#include "common/machine/machine.h"
#include "common/metrics/report.h"
#include "common/util/grow.h"
#include "deploy/simulate/availability.h"
#include "deploy/simulate/print_report.h"
#include "hdss/kernel.h"
#include "supermaster/statistics.h"
#include "supermaster/supermaster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* How long it takes to detect a dead rank: ten heartbeats, one per second, as in common/mpi. */
#define DETECT_NS UINT64_C(10000000000)
/* How long it takes to detect the loss of a node that has joined. It is shorter than DETECT_NS, because the stream to
 * that node breaks and the set notices this. */
#define POD_DETECT_NS UINT64_C(1000000000)
#define LIMIT_NS      (UINT64_MAX / 4)

static unsigned sim_backend_ranks_on(const struct placement *placement, unsigned node)
{
    unsigned count = 0;
    for (unsigned rank = 0; rank < placement->ranks; rank++)
        count += placement->node_of[rank] == node;
    return count;
}

static void list_faults_of_event(struct simulation_run *run, const struct placement *placement,
                                 const struct simulation_event *event)
{
    for (unsigned rank = 0; rank < placement->ranks; rank++) {
        if (placement->node_of[rank] != event->node)
            continue;
        struct virtual_fault fault = {.type = event->factor > 0 ? VIRTUAL_SLOW : VIRTUAL_KILL,
                                      .rank = rank,
                                      .at_ns = event->at_ns,
                                      .factor = event->factor};
        run->faults[run->config.fault_count++] = fault;
        fault.at_ns = event->until_ns;
        fault.factor = 1 / event->factor;
        if (event->factor > 0 && event->until_ns < UINT64_MAX)
            run->faults[run->config.fault_count++] = fault;
    }
}

static int list_faults(struct simulation_run *run, const struct simulation *simulation)
{
    size_t most = 0;
    for (unsigned i = 0; i < simulation->event_count; i++)
        most += 2 * sim_backend_ranks_on(&simulation->placement, simulation->events[i].node);
    run->faults = calloc(most + 1, sizeof *run->faults);
    for (unsigned i = 0; run->faults != NULL && i < simulation->event_count; i++)
        list_faults_of_event(run, &simulation->placement, &simulation->events[i]);
    run->config.faults = run->faults;
    return run->faults != NULL ? 0 : -1;
}

static int list_loads(struct simulation_run *run, const struct simulation *simulation)
{
    run->loads = calloc(simulation->workers, sizeof *run->loads);
    for (unsigned w = 0; run->loads != NULL && w < simulation->workers; w++)
        if (simulation->worker_loads[w] > 1)
            run->loads[run->config.load_count++] =
                (struct virtual_load){.worker = w, .load = simulation->worker_loads[w]};
    run->config.loads = run->loads;
    return run->loads != NULL ? 0 : -1;
}

struct presence {
    unsigned pod; /* index in run->config.pods, plus 1; 0: the node belongs to the launch, or is absent */
    unsigned rank;
    double speed;
};

struct lister {
    struct simulation_run *run;
    const struct placement *placement;
    unsigned pod_workers;
    unsigned ranks;
    struct presence *presences;
    size_t fault_room;
    bool out_of_memory;
};

static void add_fault(struct lister *lister, const struct virtual_fault *fault)
{
    struct simulation_run *run = lister->run;
    struct virtual_fault *faults = grow(run->faults, run->config.fault_count, &lister->fault_room, sizeof *faults);
    lister->out_of_memory |= faults == NULL;
    if (faults == NULL)
        return;
    run->faults = faults;
    run->faults[run->config.fault_count++] = *fault;
    run->config.faults = run->faults;
}

static void add_faults(struct lister *lister, unsigned node, struct virtual_fault fault)
{
    const struct presence *presence = &lister->presences[node];
    for (unsigned i = 0; presence->pod > 0 && i <= lister->pod_workers; i++) {
        fault.rank = presence->rank + i;
        add_fault(lister, &fault);
    }
    for (unsigned rank = 0; presence->pod == 0 && rank < lister->placement->ranks; rank++)
        if (lister->placement->node_of[rank] == node) {
            fault.rank = rank;
            add_fault(lister, &fault);
        }
}

static void add_event(struct lister *lister, const struct availability_event *event)
{
    struct virtual_config *config = &lister->run->config;
    struct presence *presence = &lister->presences[event->node];
    switch (event->kind) {
    case AVAILABILITY_UP:
        lister->run->pods[config->pod_count++] = (struct virtual_pod){event->at_ns, lister->pod_workers, 1, 0};
        *presence = (struct presence){config->pod_count, lister->ranks, 1};
        lister->ranks += 1 + lister->pod_workers;
        break;
    case AVAILABILITY_LEAVES: lister->run->pods[presence->pod - 1].leaves_ns = event->at_ns; break;
    case AVAILABILITY_DOWN:
        add_faults(lister, event->node, (struct virtual_fault){.type = VIRTUAL_KILL, .at_ns = event->at_ns});
        break;
    case AVAILABILITY_SPEED:
        add_faults(lister, event->node,
                   (struct virtual_fault){
                       .type = VIRTUAL_SLOW, .at_ns = event->at_ns, .factor = presence->speed / event->speed});
        presence->speed = event->speed;
        break;
    }
}

static unsigned count_nodes(const struct availability *availability, unsigned launched)
{
    unsigned nodes = launched;
    for (size_t i = 0; i < availability->count; i++)
        nodes = availability->events[i].node >= nodes ? availability->events[i].node + 1 : nodes;
    return nodes;
}

static int check_ranks(const struct availability *availability, const struct lister *lister, struct error *error)
{
    uint64_t ranks = lister->ranks;
    for (size_t i = 0; i < availability->count; i++)
        ranks += availability->events[i].kind == AVAILABILITY_UP ? 1 + lister->pod_workers : 0;
    if (ranks <= SIMULATION_RANKS_MAX)
        return 0;
    return error_set(error, "--availability: %" PRIu64 " ranks come; accepted: up to %u in all", ranks,
                     SIMULATION_RANKS_MAX);
}

static int list_pods(struct simulation_run *run, const struct simulation *simulation, struct error *error)
{
    const struct availability *availability = &simulation->availability;
    const struct placement *placement = &simulation->placement;
    const unsigned nodes = count_nodes(availability, placement->nodes);
    struct lister lister = {
        .run = run,
        .placement = placement,
        .pod_workers = (simulation->workers + placement->nodes - 1) / placement->nodes,
        .ranks = placement->ranks,
        .presences = calloc(nodes, sizeof *lister.presences),
        .fault_room = run->config.fault_count,
    };
    if (check_ranks(availability, &lister, error) < 0) {
        free(lister.presences);
        return -1;
    }
    run->pods = calloc(availability->count + 1, sizeof *run->pods);
    if (lister.presences == NULL || run->pods == NULL) {
        free(lister.presences);
        return error_set(error, "out of memory for %zu events", availability->count);
    }
    run->config.pods = run->pods;
    run->config.is_elastic = availability_has_arrivals(availability);
    for (unsigned n = 0; n < nodes; n++)
        lister.presences[n].speed = 1;
    for (size_t i = 0; i < availability->count; i++)
        add_event(&lister, &availability->events[i]);
    free(lister.presences);
    return lister.out_of_memory ? error_set(error, "out of memory for %zu events", availability->count) : 0;
}

/* Time to send a chunk to a helper and to receive the results of the chunk, measured by
 * tests/bench/bench_isolation.py. */
#define HELPER_CALL_NS 5500.0

static struct virtual_config configure(const struct simulation *simulation, const double *powers)
{
    const struct job_setup *setup = &simulation->setup;
    const struct platform_service *service = &simulation->platform.service;
    const bool is_isolated = job_setup_is_isolated(setup);
    return (struct virtual_config){
        .masters = simulation->masters,
        .workers = simulation->workers,
        .rank_node = simulation->placement.node_of,
        .spec = setup->job.spec,
        .first = setup->first,
        .count = setup->count,
        .step_iterations = setup->step_iterations,
        .steps_dependent = job_setup_has_dependent_steps(setup),
        .columns = setup->loop.sync,
        .distance = setup->loop.distance,
        .reach = setup->loop.reach,
        .no_speculation = setup->loop.has_effects,
        .is_patient = true, /* launchers kill ranks that take long to end, but a simulation has no launcher */
        .no_isolation = setup->kernel->descriptor != NULL,
        .are_tasks = setup->loop.are_tasks,
        .powers = powers,
        .undigested = true,
        .unchecked = true,
        .phantom_bytes = setup->collect && setup->record_bytes != UINT64_MAX ? setup->record_bytes : 0,
        .service_ns = (uint64_t)service->event_ns,
        .message_ns = service->message_ns,
        .byte_ns = service->byte_ns,
        .calculation_ns = (uint64_t)service->calculation_ns,
        .call_ns = service->call_ns + (is_isolated ? HELPER_CALL_NS : 0),
        .cold_ns = service->cold_ns + (is_isolated ? HELPER_CALL_NS : 0),
        .iteration_ns = service->iteration_ns,
        .in_order = true,
        .cuts_at_once = is_isolated,
        .steals = true,
        .order_seed = simulation->at_hand.order,
        .speeds = simulation->worker_speeds,
        .rank_speeds = simulation->rank_speeds,
        .detect_ns = DETECT_NS,
        .pod_detect_ns = POD_DETECT_NS,
        .last_ns = 1,
        .limit_ns = LIMIT_NS,
    };
}

int simulation_configure(const struct simulation *simulation, struct simulation_run *run, struct error *error)
{
    *run = (struct simulation_run){.powers = NULL};
    if (simulation_read_powers(simulation, &run->powers, error) < 0)
        return -1;
    run->config = configure(simulation, run->powers);
    if (list_faults(run, simulation) < 0 || list_loads(run, simulation) < 0)
        return error_set(error, "out of memory for %u workers", simulation->workers);
    if (list_pods(run, simulation, error) < 0)
        return -1;
    if (sim_trace_open(&run->trace, simulation, &run->config, error) < 0)
        return -1;
    run->config.sinks = run->trace.sinks;
    return 0;
}

void simulation_run_fini(struct simulation_run *run)
{
    free(run->powers);
    free(run->faults);
    free(run->loads);
    free(run->pods);
    sim_trace_fini(&run->trace);
}

int simulation_print_result(const struct simulation *simulation, struct simulation_run *run,
                            const struct virtual_result *result, const char *version, struct error *error)
{
    struct report report = {.version = version};
    struct error problem;
    const unsigned workers = result->supermaster->config.topology->workers;
    struct report_worker *rows = calloc(workers, sizeof *rows);
    if (rows == NULL)
        return error_set(error, "out of memory for the report");
    if (result->status == -1) {
        free(rows);
        return error_set(error, "the simulated run hung: rank %u had not left", result->hung_rank);
    }
    supermaster_fill_report(result->supermaster, &report, rows);
    if (result->status == -2) {
        report.outcome = REPORT_FAILED;
        report.failure = "the node of the supermaster failed";
    }
    uint64_t first_ns = result->supermaster->cut.first_ns;
    report.startup_s = first_ns != NEVER ? (double)first_ns / 1e9 : 0;
    if (sim_trace_end(&run->trace, simulation, &report, &problem) < 0)
        fprintf(stderr, "hdss simulate: --trace: %s\n", problem.text);
    int status =
        simulation_print_report(simulation, &report, result->status == -2 ? EXIT_STATUS_FAILED : result->status);
    free(rows);
    return status;
}
