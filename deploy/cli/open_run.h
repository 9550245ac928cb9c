/* SPDX-License-Identifier: MIT */
/* Options of a run that pods can join, `hdss run --elastic`. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/compose.h"

/* Adds the option for the address at which pods join, unless the user has given it. With --pods the run listens at all
 * interfaces, otherwise only on this machine. The ticket is in the run's own folder. */
int open_run_add_words(struct launch_plan *launch_plan, struct error *error);

/* Does the same as open_run_add_words() for a job whose words were parsed already. */
int open_run_add_late(struct launch_plan *launch_plan, struct error *error);

int open_run_check(const struct launch_plan *launch_plan, struct error *error);

/* Removes the run's own folder, with the files of a supermaster that was killed. */
void open_run_clear(const struct launch_plan *launch_plan);
