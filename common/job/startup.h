/* SPDX-License-Identifier: MIT */
/* The command line of a daemon before MPI starts. If all ranks of a launch must print an error, or a page of --help
 * or --version, only one rank prints it. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>

struct startup {
    const char *program, *version;
    int status; /* status that this rank sends in its HELLO: 0, EXIT_STATUS_USAGE or HELLO_STATUS_HELP */
    char *text; /* page or error to print; owned; NULL: there is nothing to print */
};

void startup_take(struct startup *startup, int parsed, const struct error *error, char *(*help)(void));

/* If no launcher has started this process, prints the page or error at once, sets `*status` to the exit status, and
 * returns true. */
bool startup_ends_here(const struct startup *startup, int *status);
void startup_fini(struct startup *startup);
