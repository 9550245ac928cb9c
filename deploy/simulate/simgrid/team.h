/* SPDX-License-Identifier: MIT */
/* Executor of a simulated worker with several threads: the time computed by deploy/simulate/virtual/thread_model.h
 * passes on the simulated core of the worker's rank. */
#pragma once

#include "deploy/simulate/simgrid/run.h"
#include "deploy/simulate/simgrid/work.h"
#include "deploy/simulate/virtual/thread_model.h"

struct simulated_team {
    struct simulated_work work; /* must be the first member; its chunk is unused */
    struct thread_model model;  /* freed by the caller */
};

/* For worker `w`; -1: out of memory. */
int simulated_team_init(struct simulated_team *team, struct simulated_run *run, unsigned w);
