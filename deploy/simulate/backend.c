/* SPDX-License-Identifier: MIT */
/* See backend.h. */
#include "deploy/simulate/backend.h"

#include "common/config/job.h"
#include "common/job/job_setup.h"
#include "common/machine/machine.h"
#include "common/metrics/report.h"
#include "deploy/simulate/pods.h"
#include "deploy/simulate/print_report.h"
#include "hdss/kernel.h"
#include "supermaster/statistics.h"
#include "supermaster/supermaster.h"

#include <stdio.h>
#include <stdlib.h>

/* Time until a dead rank is detected, as in common/mpi: ten heartbeats of a second. */
#define DETECT_NS UINT64_C(10000000000)
/* Like DETECT_NS, for a node that has joined, whose stream ends or is silent for three keep-alives. */
#define POD_DETECT_NS UINT64_C(1000000000)
#define LIMIT_NS      (UINT64_MAX / 4)

static unsigned sim_backend_ranks_on(const struct placement *placement, unsigned node)
{
    unsigned count = 0;
    for (unsigned rank = 0; rank < placement->ranks; rank++)
        count += placement->node_of[rank] == node;
    return count;
}

static void sim_backend_add_faults(struct simulation_run *run, const struct placement *placement,
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
        sim_backend_add_faults(run, &simulation->placement, &simulation->events[i]);
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

/* Sending a chunk to a helper and receiving its results: tests/bench/bench_isolation.py. */
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
        .is_patient = true, /* no launcher kills late ranks */
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
    if (simulation_list_pods(run, simulation, error) < 0)
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
