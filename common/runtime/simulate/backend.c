/* See backend.h. */
#include "common/runtime/simulate/backend.h"

#include "common/runtime/simulate/say.h"
#include "supermaster/figures.h"

#include <stdlib.h>

/* What is told of a dead rank, as common/runtime/mpi notices it: ten heartbeats of a second. */
#define DETECT_NS UINT64_C(10000000000)
#define LIMIT_NS  (UINT64_MAX / 4)

int simulation_read_powers(const struct simulation *simulation, double **powers, struct error *error)
{
    unsigned *ranks = calloc(simulation->workers, sizeof *ranks);
    if (ranks == NULL)
        return error_set(error, "out of memory for %u workers", simulation->workers);
    for (unsigned w = 0; w < simulation->workers; w++)
        ranks[w] = 1 + simulation->masters + w;
    *powers = NULL;
    int result = plan_read_speeds(&simulation->plan, ranks, simulation->workers, powers, error);
    free(ranks);
    return result;
}

struct virtual_config simulation_configure(const struct simulation *simulation, const double *powers)
{
    const struct plan *plan = &simulation->plan;
    const struct job *job = &plan->job;
    const struct platform_service *service = &simulation->platform.service;
    return (struct virtual_config){
        .masters = simulation->masters,
        .workers = simulation->workers,
        .group_even = job->group_by == JOB_GROUP_BY_EVEN,
        .rank_node = simulation->placement.node_of,
        .job = job,
        .weighting = job->weighting,
        .min_chunk = job->min_chunk,
        .first = plan->first,
        .count = plan->count,
        .each = plan->each,
        .chained = plan_is_chained(plan),
        .columns = plan->loop.sync,
        .sync_points = job->sync_points,
        .distance = plan->loop.distance,
        .reach = plan->loop.reach,
        .once = plan->loop.has_effects,
        .childless = plan->kernel->descriptor != NULL,
        .are_tasks = plan->loop.are_tasks,
        .measure_power = powers == NULL,
        .powers = powers,
        .undigested = true,
        .imagined_bytes = plan->collect && plan->record_bytes != UINT64_MAX ? plan->record_bytes : 0,
        .ask_ahead = plan_ask_ahead(job),
        .ask_ahead_chunks = job->ask_ahead_chunks,
        .service_ns = (uint64_t)service->event_ns,
        .message_ns = service->message_ns,
        .byte_ns = service->byte_ns,
        .calculation_ns = job->calculation_ns + (uint64_t)service->calculation_ns,
        .assignment_ns = job->assignment_ns,
        .in_order = true,
        .speeds = simulation->worker_speeds,
        .rank_speeds = simulation->rank_speeds,
        .retries = job->retries,
        .detect_ns = DETECT_NS,
        .last_ns = 1,
        .limit_ns = LIMIT_NS,
    };
}

int simulation_say_result(const struct simulation *simulation, const struct virtual_result *result, const char *version,
                          struct error *error)
{
    struct report report = {.version = version};
    struct report_worker *rows = calloc(simulation->workers, sizeof *rows);
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
    uint64_t first_ns = result->supermaster->first_assign_ns;
    report.startup_s = first_ns != NEVER ? (double)first_ns / 1e9 : 0;
    int status = simulation_say(simulation, &report, result->status == -2 ? EXIT_STATUS_FAILED : result->status);
    free(rows);
    return status;
}
