/* SPDX-License-Identifier: MIT */
/* The interface between the module of a daemon and the launcher. The launcher loads the module. */
#pragma once

#include "deploy/simulate/simgrid/run.h"

void simulated_rank(struct simulated_run *run, unsigned rank);

void simulated_give_up(struct simulated_run *run, unsigned rank, const char *text);
