/* SPDX-License-Identifier: MIT */
/* See sim_setup.h. */
#include "deploy/simulate/simgrid/sim_setup.h"

#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/machines.h"
#include "deploy/simulate/virtual/perturb.h"
#include "proto/message.h"
#include "supermaster/supermaster.h"

#include <stdlib.h>

/* Names a feature of the virtual cluster that SimGrid runs lack. */
static const char *find_unknown(const struct virtual_config *config)
{
    for (unsigned i = 0; i < config->fault_count; i++)
        if ((config->faults[i].type != VIRTUAL_SLOW && config->faults[i].type != VIRTUAL_KILL) ||
            config->faults[i].at_event > 0)
            return "faults but slowdowns and failures at a given time";
    for (unsigned i = 0; i < config->load_count; i++)
        if (config->loads[i].at_ns > 0)
            return "loads that come later";
    if (config->outcome != NULL || config->slow_factor > 0)
        return "failing iterations and slowdowns of single workers";
    if (config->collect || config->journal || config->done != NULL)
        return "results, journals and resumed runs";
    return config->drain_at_ns > 0 ? "drains" : NULL;
}

static int init_results(struct sim_setup *sim_setup, const struct virtual_config *run, struct error *error)
{
    if (run->phantom_bytes == 0)
        return 0;
    sim_setup->results = calloc(run->phantom_bytes > SLICE_MAX ? run->phantom_bytes : SLICE_MAX, 1);
    if (sim_setup->results == NULL)
        return error_set(error, "out of memory for results of %llu bytes", (unsigned long long)run->phantom_bytes);
    sim_setup->run.results = sim_setup->results;
    return 0;
}

int sim_setup_init(struct sim_setup *sim_setup, const struct simgrid_config *config, struct error *error)
{
    const struct virtual_config *run = config->run;
    struct simulated_run *own = &sim_setup->run;
    const char *unknown = find_unknown(run);
    if (unknown != NULL)
        return error_set(error, "--backend simgrid has no %s; accepted: --backend virtual", unknown);
    const unsigned ranks = cluster_ranks(run);
    sim_setup->run.hellos = calloc(ranks, sizeof *sim_setup->run.hellos);
    sim_setup->run.inboxes = calloc(ranks, sizeof *sim_setup->run.inboxes);
    sim_setup->run.standings = calloc(ranks, sizeof *sim_setup->run.standings);
    if (sim_setup->run.hellos == NULL || sim_setup->run.inboxes == NULL || sim_setup->run.standings == NULL ||
        machines_group(run, sim_setup->run.hellos, &sim_setup->topology) < 0)
        return error_set(error, "out of memory for %u ranks", ranks);
    if (machines_speeds(run, &sim_setup->speeds, error) < 0 || init_results(sim_setup, run, error) < 0)
        return -1;
    uint64_t bytes = machines_boundary_bytes(run);
    sim_setup->boundary = calloc(bytes + 1, 1);
    if (sim_setup->boundary == NULL)
        return error_set(error, "out of memory for boundary data of %llu bytes", (unsigned long long)bytes);
    sim_setup->run.boundary = sim_setup->boundary;
    if (perturbations_init(&sim_setup->perturbations, run, &sim_setup->topology, error) < 0)
        return -1;
    own->config = run;
    own->topology = &sim_setup->topology;
    own->speeds = sim_setup->speeds;
    own->perturbations = &sim_setup->perturbations;
    own->supermaster = &sim_setup->supermaster;
    own->supermaster->cut.first_ns = NEVER;
    own->busy_ns = calloc(1 + sim_setup->topology.masters, sizeof *own->busy_ns);
    if (own->busy_ns == NULL)
        return error_set(error, "out of memory for %u masters", sim_setup->topology.masters);
    own->costs = config->costs;
    own->flops_per_ns = config->file != NULL ? config->file->flops_per_ns : SIMGRID_FLOPS_PER_NS;
    own->folder = config->folder;
    return 0;
}

void sim_setup_fini(struct sim_setup *sim_setup)
{
    struct simulated_run *own = &sim_setup->run;
    if (own->supermaster_is_there)
        supermaster_fini(own->supermaster);
    for (unsigned i = 0; own->inboxes != NULL && i < sim_setup->topology.ranks; i++)
        free(own->inboxes[i].from);
    free(own->inboxes);
    free(own->standings);
    free(own->busy_ns);
    free(own->hellos);
    free(sim_setup->speeds);
    free(sim_setup->results);
    free(sim_setup->boundary);
    perturbations_fini(&sim_setup->perturbations);
    topology_fini(&sim_setup->topology);
}
