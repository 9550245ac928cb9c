/* SPDX-License-Identifier: MIT */
/* Pods that join and leave, and faults, as a trace of availability has them for a simulated run. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/backend.h"
#include "deploy/simulate/simulation.h"

/* Appends the faults to those of the run, and sets its pods: one for each time that a node comes, with as many workers
 * as the nodes of the launch have, or one more. -1 with one line. */
int simulation_list_pods(struct simulation_run *run, const struct simulation *simulation, struct error *error);
