/* SPDX-License-Identifier: MIT */
/* The executor of a simulated worker of several threads: what they come to, by deploy/simulate/virtual/thread_model.h,
 * takes its time on the simulated core of the worker's rank. */
#pragma once

#include "deploy/simulate/simgrid/run.h"
#include "deploy/simulate/simgrid/work.h"
#include "deploy/simulate/virtual/thread_model.h"

struct simulated_team {
    struct simulated_work work; /* first; its chunk is not used */
    struct thread_model model;  /* the caller releases it */
};

/* For the w-th worker; -1 when memory is out. */
int simulated_team_init(struct simulated_team *team, struct simulated_run *run, unsigned w);
