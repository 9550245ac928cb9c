/* SPDX-License-Identifier: MIT */
/* What a trace of availability makes of a simulated run: pods that join and leave, and faults. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/backend.h"
#include "deploy/simulate/simulation.h"

/* Appends the faults to those of the run, and sets its pods: one for each time that a node comes, with as many workers
 * as the nodes of the launch have, or one more. -1 with one line. */
int simulation_list_pods(struct simulation_run *run, const struct simulation *simulation, struct error *error);
