/* A simulated run in virtual time: the ranks of common/runtime/virtual on the nodes of a platform. */
#include "common/runtime/simulate/say.h"
#include "common/runtime/simulate/simulation.h"
#include "common/runtime/virtual/cluster.h"
#include "supermaster/figures.h"

#include <stdlib.h>

/* What is told of a dead rank, as common/runtime/mpi notices it: ten heartbeats of a second. */
#define DETECT_NS UINT64_C(10000000000)
#define LIMIT_NS  (UINT64_MAX / 4)

/* What the functions of the cluster are given. */
struct machine_model {
    const struct simulation *simulation;
    unsigned *site; /* [nodes] */
};

static double costs_of(void *context, uint64_t first, uint64_t count)
{
    return simulation_cost_ns(((const struct machine_model *)context)->simulation, first, count);
}

static uint64_t transfer_ns(void *context, unsigned from, unsigned to, uint64_t bytes)
{
    const struct machine_model *model = context;
    const struct platform *platform = &model->simulation->platform;
    const struct platform_link *link = from == to                             ? &platform->node
                                       : model->site[from] == model->site[to] ? &platform->network
                                                                              : &platform->between_sites;
    return (uint64_t)(link->latency_ns + (double)bytes / link->bytes_per_ns);
}

/* --- what happens to the nodes, rank by rank --- */

struct fault_list {
    struct virtual_fault *items; /* owned */
    unsigned count;
};

static unsigned ranks_on(const struct placement *placement, unsigned node)
{
    unsigned count = 0;
    for (unsigned rank = 0; rank < placement->ranks; rank++)
        count += placement->node_of[rank] == node;
    return count;
}

static void add_faults(struct fault_list *faults, const struct placement *placement,
                       const struct simulation_event *event)
{
    for (unsigned rank = 0; rank < placement->ranks; rank++) {
        if (placement->node_of[rank] != event->node)
            continue;
        struct virtual_fault fault = {.type = event->factor > 0 ? VIRTUAL_SLOW : VIRTUAL_KILL,
                                      .rank = rank,
                                      .at_ns = event->at_ns,
                                      .factor = event->factor};
        faults->items[faults->count++] = fault;
        fault.at_ns = event->until_ns;
        fault.factor = 1 / event->factor;
        if (event->factor > 0 && event->until_ns < UINT64_MAX)
            faults->items[faults->count++] = fault;
    }
}

static int list_faults(struct fault_list *faults, const struct simulation *simulation)
{
    size_t most = 0;
    for (unsigned i = 0; i < simulation->event_count; i++)
        most += 2 * ranks_on(&simulation->placement, simulation->events[i].node);
    faults->items = calloc(most + 1, sizeof *faults->items);
    for (unsigned i = 0; faults->items != NULL && i < simulation->event_count; i++)
        add_faults(faults, &simulation->placement, &simulation->events[i]);
    return faults->items != NULL ? 0 : -1;
}

/* --- the run --- */

static struct virtual_config configure(const struct simulation *simulation, const double *powers)
{
    static const enum ask_ahead modes[] = {
        [JOB_ASK_AHEAD_AUTO] = ASK_AHEAD_AUTO,
        [JOB_ASK_AHEAD_OFF] = ASK_AHEAD_OFF,
        [JOB_ASK_AHEAD_FIXED] = ASK_AHEAD_FIXED,
    };
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
        .once = plan->loop.has_effects,
        .childless = plan->kernel->descriptor != NULL,
        .are_tasks = plan->loop.are_tasks,
        .measure_power = powers == NULL,
        .powers = powers,
        .undigested = true,
        .imagined_bytes = plan->collect && plan->record_bytes != UINT64_MAX ? plan->record_bytes : 0,
        .ask_ahead = modes[job->ask_ahead],
        .ask_ahead_chunks = job->ask_ahead_chunks,
        .service_ns = (uint64_t)service->event_ns,
        .message_ns = service->message_ns,
        .byte_ns = service->byte_ns,
        .calculation_ns = job->calculation_ns + (uint64_t)service->calculation_ns,
        .assignment_ns = job->assignment_ns,
        .in_order = true,
        .speeds = simulation->worker_speeds,
        .rank_speeds = simulation->rank_speeds,
        .costs_ns = costs_of,
        .transfer_ns = transfer_ns,
        .retries = job->retries,
        .detect_ns = DETECT_NS,
        .last_ns = 1,
        .limit_ns = LIMIT_NS,
    };
}

static int make_model(struct machine_model *model, const struct simulation *simulation)
{
    const struct placement *placement = &simulation->placement;
    *model = (struct machine_model){.simulation = simulation, .site = calloc(placement->nodes, sizeof *model->site)};
    for (unsigned n = 0; model->site != NULL && n < placement->nodes; n++)
        model->site[n] = platform_node(&simulation->platform, placement->platform_node[n])->site;
    return model->site != NULL ? 0 : -1;
}

static double busy_s(const struct virtual_cluster *cluster, unsigned first, unsigned count)
{
    uint64_t most = 0;
    for (unsigned rank = first; rank < first + count; rank++)
        most = virtual_busy_ns(cluster, rank) > most ? virtual_busy_ns(cluster, rank) : most;
    return (double)most / 1e9;
}

static int say(const struct simulation *simulation, const struct virtual_result *result, const char *version,
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

static int run_with(struct simulation *simulation, const double *powers, const struct fault_list *faults,
                    const char *version, struct error *error)
{
    struct machine_model model;
    if (make_model(&model, simulation) < 0)
        return error_set(error, "out of memory for %u nodes", simulation->placement.nodes);
    struct virtual_config config = configure(simulation, powers);
    config.context = &model;
    config.faults = faults->items;
    config.fault_count = faults->count;
    struct virtual_cluster *cluster = virtual_new(&config, error);
    int status = -1;
    if (cluster != NULL) {
        const struct virtual_result result = virtual_run(cluster);
        simulation->supermaster_busy_s = busy_s(cluster, 0, 1);
        simulation->master_busy_s = busy_s(cluster, 1, simulation->masters);
        status = say(simulation, &result, version, error);
    }
    virtual_free(cluster);
    free(model.site);
    return status;
}

int simulation_run_virtual(struct simulation *simulation, const char *version, struct error *error)
{
    struct fault_list faults = {0};
    unsigned *ranks = calloc(simulation->workers, sizeof *ranks);
    double *powers = NULL;
    int status = -1;
    for (unsigned w = 0; ranks != NULL && w < simulation->workers; w++)
        ranks[w] = 1 + simulation->masters + w;
    if (ranks == NULL || list_faults(&faults, simulation) < 0)
        error_set(error, "out of memory");
    else if (plan_read_speeds(&simulation->plan, ranks, simulation->workers, &powers, error) == 0)
        status = run_with(simulation, powers, &faults, version, error);
    free(powers);
    free(ranks);
    free(faults.items);
    return status;
}
