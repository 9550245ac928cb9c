/* SPDX-License-Identifier: MIT */
/* Interface of the modules, one per daemon, which the launcher loads. */
#pragma once

#include "deploy/simulate/simgrid/run.h"

/* Runs the rank, after MPI_Init, until it leaves. */
void simulated_rank(struct simulated_run *run, unsigned rank);

void simulated_give_up(struct simulated_run *run, unsigned rank, const char *text);
