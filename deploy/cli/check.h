/* SPDX-License-Identifier: MIT */
/* Checks that find what a run fails at before anything of it is started. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/compose.h"

/* Looks at all that the rank will look at that leads the run, with its own code, and fills lineup->shown for a dry run.
 * The line-up must be composed. What is launched again is not looked at again: what the failed run has left is for the
 * leader to judge. -1 with one line. CHECK_IS_OVER with one line if the run that is to be resumed is complete. */
#define CHECK_IS_OVER 1
int check_launch_plan(struct launch_plan *launch_plan, struct error *error);

/* Describes the loop of the job, once, as the rank that leads will where it leads on this machine. -1 with one line. */
int check_describe(struct launch_plan *launch_plan, struct error *error);

/* Checks whether the kernel can describe its loop, and has what it needs. -1 with one line. */
int check_inputs(struct launch_plan *launch_plan, struct error *error);

/* Checks whether the options suit the loop of the job, and the powers its workers. -1 with one line. */
int check_loop(struct launch_plan *launch_plan, struct error *error);
