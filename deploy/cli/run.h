/* SPDX-License-Identifier: MIT */
/* `hdss run` for other commands. */
#pragma once

#include "common/config/options.h"
#include "common/util/error.h"
#include "deploy/cli/compose.h"
#include "deploy/cli/launch.h"

#include <stdbool.h>

/* Checks whether `hdss run` accepts the command line; argv[0] is not looked at. 0, one of OPTIONS_*, or -1 with one
 * line. */
int run_check(int argc, char **argv, struct error *error);

/* Checks as run_check() does, and whether the files are right that its kernel reads, where they are on this machine. */
int run_check_inputs(int argc, char **argv, struct error *error);

/* Checks as run_check() does, and whether the options suit the loop and the workers, where these are looked at here. */
int run_check_loop(int argc, char **argv, struct error *error);

/* Checks whether one option, which must be of its tables, accepts the value. -1 with one line. */
int run_check_option(const char *name, const char *value, struct error *error);

/* The option of that name that `hdss run` accepts, its own or the job's; NULL: none. */
const struct option_row *run_find_option(const char *name);

/* Runs the command line as `how` says, with notes in the name of `program`; one that is lost is not started again
 * unless `restarts`. Returns an enum exit_status; the error is empty where the run itself says what is wrong. */
int run_words(const char *program, int argc, char **argv, bool restarts, struct launch *how, struct error *error);

/* The options that say where ranks run and how they are launched; their target is a struct launch_plan. */
extern const struct option_row launch_place_rows[];

/* Options that `hdss run` has beside those and the options of the job; their target is a struct launch_plan. */
extern const struct option_row launch_run_rows[];

/* Composes the line of the plan and runs it. Returns as run_words(). */
int run_launch_plan(struct launch_plan *launch_plan, struct launch *how, struct error *error);
