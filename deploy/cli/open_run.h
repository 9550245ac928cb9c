/* SPDX-License-Identifier: MIT */
/* A run that pods can join, `hdss run --elastic`, as its launch sees it. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/compose.h"

/* Adds to the job's words where pods join, unless the user says so: from this machine, by a file in a folder of the
 * run's own. -1 with one line. */
int open_run_add_words(struct launch_plan *launch_plan, struct error *error);

/* The same for a job that is read already: it is then as if it had been read with the words. -1 with one line. */
int open_run_add_late(struct launch_plan *launch_plan, struct error *error);

/* Checks the plan once its job is read. -1 with one line. */
int open_run_check(const struct launch_plan *launch_plan, struct error *error);

/* Removes the folder of the run's own, with what a supermaster has left there that was killed. */
void open_run_clear(const struct launch_plan *launch_plan);
