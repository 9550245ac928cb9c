/* SPDX-License-Identifier: MIT */
/* Pods and faults from an availability trace, for a simulated run. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/backend.h"
#include "deploy/simulate/simulation.h"

/* Appends faults to the run and sets its pods, one per arrival of a node, as large as a launched node. */
int simulation_list_pods(struct simulation_run *run, const struct simulation *simulation, struct error *error);
