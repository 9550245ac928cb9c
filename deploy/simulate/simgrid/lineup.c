/* SPDX-License-Identifier: MIT */
/* See lineup.h. */
#include "deploy/simulate/simgrid/lineup.h"

#include <stdlib.h>

/* Names what the virtual cluster can and this one cannot. */
static const char *find_unknown(const struct virtual_config *config)
{
    for (unsigned i = 0; i < config->fault_count; i++)
        if ((config->faults[i].type != VIRTUAL_SLOW && config->faults[i].type != VIRTUAL_KILL) ||
            config->faults[i].at_event > 0)
            return "faults but slowdowns and failures at a given time";
    for (unsigned i = 0; i < config->load_count; i++)
        if (config->loads[i].at_ns > 0)
            return "loads that come later";
    if (config->outcome != NULL || config->slow_worker_plus_1 > 0)
        return "failing iterations and slowdowns of single workers";
    if (config->collect || config->journal || config->done != NULL)
        return "results, journals and resumed runs";
    return config->drain_at_ns > 0 ? "drains" : NULL;
}

static int init_topology(struct lineup *lineup, const struct virtual_config *run, struct error *error)
{
    const unsigned ranks = cluster_ranks(run);
    lineup->run.hellos = calloc(ranks, sizeof *lineup->run.hellos);
    lineup->run.inboxes = calloc(ranks, sizeof *lineup->run.inboxes);
    lineup->run.standings = calloc(ranks, sizeof *lineup->run.standings);
    if (lineup->run.hellos == NULL || lineup->run.inboxes == NULL || lineup->run.standings == NULL ||
        machines_group(run, lineup->run.hellos, &lineup->topology) < 0)
        return error_set(error, "out of memory for %u ranks", ranks);
    return 0;
}

static int init_results(struct lineup *lineup, const struct virtual_config *run, struct error *error)
{
    if (run->imagined_bytes == 0)
        return 0;
    lineup->results = calloc(run->imagined_bytes > SLICE_MAX ? run->imagined_bytes : SLICE_MAX, 1);
    if (lineup->results == NULL)
        return error_set(error, "out of memory for results of %llu bytes", (unsigned long long)run->imagined_bytes);
    lineup->run.results = lineup->results;
    return 0;
}

static int init_boundary(struct lineup *lineup, const struct virtual_config *run, struct error *error)
{
    uint64_t bytes = machines_boundary_bytes(run);
    lineup->boundary = calloc(bytes + 1, 1);
    if (lineup->boundary == NULL)
        return error_set(error, "out of memory for boundary data of %llu bytes", (unsigned long long)bytes);
    lineup->run.boundary = lineup->boundary;
    return 0;
}

int lineup_init(struct lineup *lineup, const struct simgrid_config *config, struct error *error)
{
    const struct virtual_config *run = config->run;
    struct simulated_run *own = &lineup->run;
    const char *unknown = find_unknown(run);
    if (unknown != NULL)
        return error_set(error, "--backend simgrid has no %s; accepted: --backend virtual", unknown);
    if (init_topology(lineup, run, error) < 0 || machines_speeds(run, &lineup->speeds, error) < 0 ||
        init_results(lineup, run, error) < 0 || init_boundary(lineup, run, error) < 0 ||
        perturbations_init(&lineup->perturbations, run, &lineup->topology, error) < 0)
        return -1;
    own->config = run;
    own->topology = &lineup->topology;
    own->speeds = lineup->speeds;
    own->perturbations = &lineup->perturbations;
    own->supermaster = &lineup->supermaster;
    own->supermaster->first_assign_ns = NEVER;
    own->busy_ns = calloc(1 + lineup->topology.masters, sizeof *own->busy_ns);
    if (own->busy_ns == NULL)
        return error_set(error, "out of memory for %u masters", lineup->topology.masters);
    own->costs = config->costs;
    own->flops_per_ns = config->file != NULL ? config->file->flops_per_ns : SIMGRID_FLOPS_PER_NS;
    own->folder = config->folder;
    return 0;
}

void lineup_fini(struct lineup *lineup)
{
    struct simulated_run *own = &lineup->run;
    if (own->supermaster_is_there)
        supermaster_fini(own->supermaster);
    for (unsigned i = 0; own->inboxes != NULL && i < lineup->topology.ranks; i++)
        free(own->inboxes[i].from);
    free(own->inboxes);
    free(own->standings);
    free(own->busy_ns);
    free(own->hellos);
    free(lineup->speeds);
    free(lineup->results);
    free(lineup->boundary);
    perturbations_fini(&lineup->perturbations);
    topology_fini(&lineup->topology);
}
