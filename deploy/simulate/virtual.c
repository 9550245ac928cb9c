/* SPDX-License-Identifier: MIT */
/* A simulated run in virtual time: the ranks of deploy/simulate/virtual on the nodes of a platform. */
#include "common/util/error.h"
#include "deploy/simulate/backend.h"

#include <stdlib.h>

/* The arguments of the cluster's functions. */
struct machine_model {
    const struct simulation *simulation;
    unsigned *site; /* [nodes] */
};

static double costs_of(void *context, uint64_t first, uint64_t count)
{
    return simulation_cost_ns(((const struct machine_model *)context)->simulation, first, count);
}

static uint64_t virtual_backend_transfer_ns(void *context, unsigned from, unsigned to, uint64_t bytes)
{
    const struct machine_model *model = context;
    const struct platform *platform = &model->simulation->platform;
    const struct platform_link *link = from == to                             ? &platform->node
                                       : model->site[from] == model->site[to] ? &platform->network
                                                                              : &platform->between_sites;
    return (uint64_t)(link->latency_ns + (double)bytes / link->bytes_per_ns);
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

int simulation_run_virtual(struct simulation *simulation, const char *version, struct error *error)
{
    struct machine_model model;
    struct simulation_run run;
    struct virtual_cluster *cluster = NULL;
    int status = -1;
    if (make_model(&model, simulation) < 0)
        return error_set(error, "out of memory for %u nodes", simulation->placement.nodes);
    if (simulation_configure(simulation, &run, error) == 0) {
        run.config.costs_ns = costs_of;
        run.config.transfer_ns = virtual_backend_transfer_ns;
        run.config.context = &model;
        cluster = virtual_new(&run.config, error);
    }
    if (cluster != NULL) {
        const struct virtual_result result = virtual_run(cluster);
        simulation->supermaster_busy_s = busy_s(cluster, 0, 1);
        simulation->master_busy_s = busy_s(cluster, 1, simulation->masters);
        status = simulation_print_result(simulation, &result, version, error);
    }
    virtual_free(cluster);
    simulation_run_fini(&run);
    free(model.site);
    return status;
}
