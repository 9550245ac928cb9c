/* SPDX-License-Identifier: MIT */
/* Command line of a daemon before MPI starts: pages of --help and --version, and errors, which only one rank prints for
 * all. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>

struct startup {
    const char *program, *version;
    int status; /* status for the hello: 0, EXIT_STATUS_USAGE or HELLO_STATUS_HELP */
    char *text; /* page or error to print; owned; NULL: nothing to print */
};

/* Takes the result of parsing: 0, OPTIONS_HELP, OPTIONS_VERSION or -1 with `error`. */
void startup_take(struct startup *startup, int parsed, const struct error *error, char *(*help)(void));

/* Without a launcher, prints the page or error at once and returns true with the exit status. */
bool startup_ends_here(const struct startup *startup, int *status);
void startup_fini(struct startup *startup);
