/* SPDX-License-Identifier: MIT */
/* Checks a run before anything is started. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/compose.h"

/* Makes all checks of the leading rank, with its code. In a dry run it sets request.shown. The plan must be composed,
 * and is checked only once: the leading rank of a restart checks what the failed run has left. Returns CHECK_IS_OVER,
 * and prints a line, if the run to be resumed is complete. */
#define CHECK_IS_OVER 1
int check_launch_plan(struct launch_plan *launch_plan, struct error *error);

/* Describes the loop of the job by the files of this machine, unless that has been done. */
int check_describe(struct launch_plan *launch_plan, struct error *error);

/* Fails if the kernel cannot describe its loop, or lacks inputs. Checks nothing if the leading rank runs elsewhere. */
int check_inputs(struct launch_plan *launch_plan, struct error *error);

/* Fails if options do not suit the loop, or powers the workers. Checks nothing if the leading rank runs elsewhere. */
int check_loop(struct launch_plan *launch_plan, struct error *error);
