/* SPDX-License-Identifier: MIT */
/* `hdss run` as used by other commands. */
#pragma once

#include "common/config/options.h"
#include "common/util/error.h"
#include "deploy/cli/compose.h"
#include "deploy/cli/launch.h"

#include <stdbool.h>

/* Checks whether `hdss run` accepts the command line, except argv[0]. Returns 0, OPTIONS_HELP, OPTIONS_VERSION or -1.
 * */
int run_check(int argc, char **argv, struct error *error);

/* Also checks the kernel's input files, if they are on this machine. */
int run_check_inputs(int argc, char **argv, struct error *error);

/* Also checks the options against the loop and the workers, if they are known here. */
int run_check_loop(int argc, char **argv, struct error *error);

/* Checks whether an option of these tables accepts the value. */
int run_check_option(const char *name, const char *value, struct error *error);

/* The option of `hdss run` or the job with this name; NULL: none. */
const struct option_row *run_find_option(const char *name);

/* Runs the command line as set in `how`, with messages from `program`; restarts lost runs if `restarts`. Returns an
 * enum exit_status; the error is empty if the run has printed it. */
int run_words(const char *program, int argc, char **argv, bool restarts, struct launch *how, struct error *error);

/* Options for hosts and launching; target: struct launch_plan. */
extern const struct option_row launch_place_rows[];

/* Further options of `hdss run`; target: struct launch_plan. */
extern const struct option_row launch_run_rows[];

/* Composes and runs the line of the plan. Returns like run_words(). */
int run_launch_plan(struct launch_plan *launch_plan, struct launch *how, struct error *error);
