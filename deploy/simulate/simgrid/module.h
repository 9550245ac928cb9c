/* SPDX-License-Identifier: MIT */
/* The functions of a module: there is one for each daemon, and the launcher loads that of its rank. */
#pragma once

#include "deploy/simulate/simgrid/run.h"

/* Runs the rank, which has called MPI_Init, until it leaves. */
void simulated_rank(struct simulated_run *run, unsigned rank);

/* Ends the run with a line. */
void simulated_give_up(struct simulated_run *run, unsigned rank, const char *text);
