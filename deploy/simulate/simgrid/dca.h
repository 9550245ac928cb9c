/* SPDX-License-Identifier: MIT */
/* Workers alone (DCA) on SimGrid: the machines and the costs of accesses are those of virtual time
 * (deploy/simulate/dca); requests and answers share the links of a simulated network. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/simgrid/simgrid.h"
#include "deploy/simulate/simulation.h"

/* Runs it; prints the summary, writes the report. `file` is where the platform comes from, or has no hosts. Returns an
 * enum exit_status; -1 with one line where it cannot run. Once in a process. */
int simulation_run_simgrid_dca(struct simulation *simulation, const struct simgrid_file *file, const char *version,
                               struct error *error);
