/* SPDX-License-Identifier: MIT */
/* Pods and faults from an availability trace, for a simulated run. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/backend.h"
#include "deploy/simulate/simulation.h"

/* Appends faults to those of the run, and sets its pods: one for each arrival of a node, with as many workers as a
 * launched node has, or one more. */
int simulation_list_pods(struct simulation_run *run, const struct simulation *simulation, struct error *error);
