/* SPDX-License-Identifier: MIT */
/* Backend `simgrid` of `hdss simulate`. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/simgrid/simgrid.h"
#include "deploy/simulate/simulation.h"

/* Runs the simulation, prints the summary and writes the report. `file` is the platform's source, or has no hosts.
 * Returns an enum exit_status, or -1 if it cannot run. Only once per process. */
int simulation_run_simgrid(struct simulation *simulation, const struct simgrid_file *file, const char *folder,
                           const char *version, struct error *error);
