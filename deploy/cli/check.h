/* SPDX-License-Identifier: MIT */
/* Checks a run before anything is started. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/compose.h"

/* Makes all checks of the leading rank, with its code, and sets request.shown for a dry run. The plan must
 * be composed. A restart is not checked: the leading rank judges what the failed run has left. CHECK_IS_OVER with a
 * line if the run to be resumed is complete. */
#define CHECK_IS_OVER 1
int check_launch_plan(struct launch_plan *launch_plan, struct error *error);

/* Describes the loop of the job, once, if the leading rank runs on this machine. */
int check_describe(struct launch_plan *launch_plan, struct error *error);

/* Checks that the kernel can describe its loop and finds its inputs. */
int check_inputs(struct launch_plan *launch_plan, struct error *error);

/* Checks the options against the loop, and the powers against the workers. */
int check_loop(struct launch_plan *launch_plan, struct error *error);
