/* SPDX-License-Identifier: MIT */
/* What the modules offer to the launcher, which loads one per daemon. */
#pragma once

#include "deploy/simulate/simgrid/run.h"

void simulated_rank(struct simulated_run *run, unsigned rank);

void simulated_give_up(struct simulated_run *run, unsigned rank, const char *text);
