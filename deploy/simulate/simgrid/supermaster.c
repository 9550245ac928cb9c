/* SPDX-License-Identifier: MIT */
/* The module for the rank that is the supermaster. */
#include "deploy/simulate/simgrid/module.h"
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/mpi/runtime.h"
#include "common/util/error.h"
#include "deploy/simulate/simgrid/rank.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/machines.h"
#include "supermaster/supermaster.h"

void simulated_rank(struct simulated_run *run, unsigned rank)
{
    const struct virtual_config *config = run->config;
    const struct effects effects = {
        .store = simulated_store,
        .calculation_ns = config->calculation_ns + config->spec.calculation_ns,
        .assignment_ns = config->spec.assignment_ns,
    };
    const struct supermaster_config own = machines_supermaster(config, run->topology, run->speeds);
    struct error error;
    if (supermaster_init(run->supermaster, &own, &error) < 0) {
        simulated_give_up(run, rank, error.text);
        return;
    }
    run->supermaster_is_there = true;
    const struct machine machine = supermaster_machine(run->supermaster);
    if (run->config->sinks != NULL)
        machine.trace(machine.self, run->config->sinks[rank]);
    run->status = simulated_drive_beside(run, rank, &machine, &effects);
    run->is_over = true;
}
