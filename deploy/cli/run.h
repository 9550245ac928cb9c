/* SPDX-License-Identifier: MIT */
/* What other commands need of `hdss run`. */
#pragma once

#include "common/config/options.h"
#include "common/util/error.h"
#include "deploy/cli/compose.h"
#include "deploy/cli/launch.h"

#include <stdbool.h>

/* Fails if `hdss run` would refuse the command line; ignores argv[0]. Returns 0, OPTIONS_HELP, OPTIONS_VERSION or
 * -1. */
int run_check(int argc, char **argv, struct error *error);

/* Makes the checks of run_check(), and also fails if input files of the kernel are missing or wrong. Files on other
 * machines are not checked. */
int run_check_inputs(int argc, char **argv, struct error *error);

/* Makes the checks of run_check(), and also fails if options do not suit the loop or the workers. What is known only on
 * another machine is not checked. */
int run_check_loop(int argc, char **argv, struct error *error);

/* Fails if there is no such option, or it does not accept the value. */
int run_check_option(const char *name, const char *value, struct error *error);

const struct option_row *run_find_option(const char *name);

/* Runs the command line as `how` says, and prints messages as `program`. If `restarts` is true, a lost run is started
 * again. Returns an enum exit_status. If the run has printed the reason of a failure, `error` is empty. */
int run_words(const char *program, int argc, char **argv, bool restarts, struct launch *how, struct error *error);

extern const struct option_row launch_place_rows[];

extern const struct option_row launch_run_rows[];

int run_launch_plan(struct launch_plan *launch_plan, struct launch *how, struct error *error);
