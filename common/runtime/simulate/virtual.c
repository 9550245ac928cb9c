/* A simulated run in virtual time: the ranks of common/runtime/virtual on the nodes of a platform. */
#include "common/runtime/simulate/backend.h"

#include <stdlib.h>

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

/* --- who else computes there, from the start to the end --- */

static int list_loads(struct virtual_load **loads, unsigned *count, const struct simulation *simulation)
{
    *count = 0;
    *loads = calloc(simulation->workers, sizeof **loads);
    for (unsigned w = 0; *loads != NULL && w < simulation->workers; w++)
        if (simulation->worker_loads[w] > 1)
            (*loads)[(*count)++] = (struct virtual_load){.worker = w, .load = simulation->worker_loads[w]};
    return *loads != NULL ? 0 : -1;
}

/* --- the run --- */

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

static int run_with(struct simulation *simulation, const double *powers, const struct fault_list *faults,
                    const char *version, struct error *error)
{
    struct machine_model model;
    if (make_model(&model, simulation) < 0)
        return error_set(error, "out of memory for %u nodes", simulation->placement.nodes);
    struct virtual_config config = simulation_configure(simulation, powers);
    config.costs_ns = costs_of;
    config.transfer_ns = transfer_ns;
    config.context = &model;
    config.faults = faults->items;
    config.fault_count = faults->count;
    struct virtual_load *loads;
    bool listed = list_loads(&loads, &config.load_count, simulation) == 0;
    config.loads = loads;
    struct virtual_cluster *cluster = listed ? virtual_new(&config, error) : NULL;
    int status = listed ? -1 : error_set(error, "out of memory for %u workers", simulation->workers);
    if (cluster != NULL) {
        const struct virtual_result result = virtual_run(cluster);
        simulation->supermaster_busy_s = busy_s(cluster, 0, 1);
        simulation->master_busy_s = busy_s(cluster, 1, simulation->masters);
        status = simulation_say_result(simulation, &result, version, error);
    }
    virtual_free(cluster);
    free(loads);
    free(model.site);
    return status;
}

int simulation_run_virtual(struct simulation *simulation, const char *version, struct error *error)
{
    struct fault_list faults = {0};
    double *powers = NULL;
    int status = -1;
    if (list_faults(&faults, simulation) < 0)
        error_set(error, "out of memory");
    else if (simulation_read_powers(simulation, &powers, error) == 0)
        status = run_with(simulation, powers, &faults, version, error);
    free(powers);
    free(faults.items);
    return status;
}
