/* SPDX-License-Identifier: MIT */
/* The module for ranks that are masters. */
#include "deploy/simulate/simgrid/module.h"
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/runtime.h"
#include "deploy/simulate/simgrid/rank.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/machines.h"
#include "master/master.h"

#include <stdlib.h>

void simulated_rank(struct simulated_run *run, unsigned rank)
{
    const struct topology *topology = run->topology;
    const unsigned m = topology_master(topology, rank);
    const struct effects effects = {.store = simulated_store, .assignment_ns = run->config->spec.assignment_ns};
    unsigned *ranks = calloc(topology_count(topology, m) + 1, sizeof *ranks);
    struct master_config config;
    struct master master;
    if (ranks != NULL)
        config = machines_master(run->config, topology, m, ranks);
    if (ranks == NULL || master_init(&master, &config) < 0) {
        simulated_give_up(run, rank, "out of memory");
        return;
    }
    const struct machine machine = master_machine(&master);
    if (run->config->sinks != NULL)
        machine.trace(machine.self, run->config->sinks[rank]);
    simulated_drive_beside(run, rank, &machine, &effects);
    master_fini(&master);
    free(ranks);
}
