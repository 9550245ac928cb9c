/* SPDX-License-Identifier: MIT */
/* The backend in virtual time: runs the ranks of deploy/simulate/virtual on the nodes of a platform. */
#include "common/util/error.h"
#include "deploy/simulate/backend.h"

#include <stdlib.h>

static double costs_of(void *context, uint64_t first, uint64_t count)
{
    return simulation_cost_ns(((const struct simulation_model *)context)->simulation, first, count);
}

/* Returns the site of a node. Nodes that join later are at the site of node 0. */
static unsigned site_of(const struct simulation_model *model, unsigned node)
{
    return model->site[node < model->simulation->placement.nodes ? node : 0];
}

static uint64_t virtual_backend_transfer_ns(void *context, unsigned from, unsigned to, uint64_t bytes)
{
    const struct simulation_model *model = context;
    const struct platform *platform = &model->simulation->platform;
    const struct platform_link *link = from == to                                   ? &platform->node
                                       : site_of(model, from) == site_of(model, to) ? &platform->network
                                                                                    : &platform->between_sites;
    return (uint64_t)(link->latency_ns + (double)bytes / link->bytes_per_ns);
}

int simulation_model_init(struct simulation_model *model, const struct simulation *simulation,
                          struct virtual_config *config, struct error *error)
{
    const struct placement *placement = &simulation->placement;
    *model = (struct simulation_model){.simulation = simulation, .site = calloc(placement->nodes, sizeof *model->site)};
    if (model->site == NULL)
        return error_set(error, "out of memory for %u nodes", placement->nodes);
    for (unsigned n = 0; n < placement->nodes; n++)
        model->site[n] = platform_node(&simulation->platform, placement->platform_node[n])->site;
    config->costs_ns = costs_of;
    config->transfer_ns = virtual_backend_transfer_ns;
    config->context = model;
    return 0;
}

void simulation_model_fini(struct simulation_model *model)
{
    free(model->site);
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
    struct simulation_model model = {.site = NULL};
    struct simulation_run run;
    struct virtual_cluster *cluster = NULL;
    int status = -1;
    if (simulation_configure(simulation, &run, error) == 0 &&
        simulation_model_init(&model, simulation, &run.config, error) == 0)
        cluster = virtual_new(&run.config, error);
    if (cluster != NULL) {
        const struct virtual_result result = virtual_run(cluster);
        simulation->at_hand.supermaster_busy_s = busy_s(cluster, 0, 1);
        simulation->at_hand.master_busy_s = busy_s(cluster, 1, simulation->masters);
        status = simulation_print_result(simulation, &run, &result, version, error);
    }
    virtual_free(cluster);
    simulation_run_fini(&run);
    simulation_model_fini(&model);
    return status;
}
