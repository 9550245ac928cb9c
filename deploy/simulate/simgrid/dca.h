/* SPDX-License-Identifier: MIT */
/* Simulated runs without a supermaster (DCA) on SimGrid. Machines and costs of accesses are those of virtual time
 * (deploy/simulate/dca). Requests and answers share the links of a simulated network. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/simgrid/simgrid.h"
#include "deploy/simulate/simulation.h"

/* Runs the simulation, prints the summary and writes the report. `file` is the SimGrid file of the platform; if it has
 * no hosts, the built-in platform is used. Returns an enum exit_status, or -1 if the simulation cannot run. Can be
 * called only once per process. */
int simulation_run_simgrid_dca(struct simulation *simulation, const struct simgrid_file *file, const char *version,
                               struct error *error);
