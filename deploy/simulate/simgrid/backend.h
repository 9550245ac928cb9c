/* SPDX-License-Identifier: MIT */
/* The backend simgrid of `hdss simulate`. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/simgrid/simgrid.h"
#include "deploy/simulate/simulation.h"

/* Runs it; prints the summary, writes the report. `file` is where the platform comes from, or has no hosts. Returns an
 * enum exit_status; -1 with one line where it cannot run. Once in a process. */
int simulation_run_simgrid(struct simulation *simulation, const struct simgrid_file *file, const char *folder,
                           const char *version, struct error *error);
