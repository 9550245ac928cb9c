/* SPDX-License-Identifier: MIT */
/* Checks a run before anything is started. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/compose.h"

/* Makes all checks that the leading rank will make, with the same code. The plan must be composed. In a dry run this
 * sets request.shown. Must be called only before the first start: after a restart, only the leading rank checks what
 * the failed run has left. If the run to be resumed is complete, prints a line and returns CHECK_IS_OVER. */
#define CHECK_IS_OVER 1
int check_launch_plan(struct launch_plan *launch_plan, struct error *error);

/* Asks the kernel for the loop of the job, with the files of this machine. Does nothing if that was done before. */
int check_describe(struct launch_plan *launch_plan, struct error *error);

/* Fails if the kernel cannot describe its loop, or lacks inputs. Checks nothing if the leading rank runs elsewhere. */
int check_inputs(struct launch_plan *launch_plan, struct error *error);

/* Fails if options do not suit the loop, or if the powers do not suit the workers. Checks nothing if the leading rank
 * runs elsewhere. */
int check_loop(struct launch_plan *launch_plan, struct error *error);
