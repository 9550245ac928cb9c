/* SPDX-License-Identifier: MIT */
/* Options of a run that pods can join, `hdss run --elastic`. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/compose.h"

/* Adds to the job's words where pods join, unless the user has said it: on this machine, by a file in the run's own
 * folder. */
int open_run_add_words(struct launch_plan *launch_plan, struct error *error);

/* The same for a job whose words were parsed already. */
int open_run_add_late(struct launch_plan *launch_plan, struct error *error);

int open_run_check(const struct launch_plan *launch_plan, struct error *error);

/* Removes the run's own folder, with what a supermaster that was killed has left there. */
void open_run_clear(const struct launch_plan *launch_plan);
