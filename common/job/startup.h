/* SPDX-License-Identifier: MIT */
/* The handling of a daemon with its command line before MPI: the pages of --help and --version, and errors, of which
 * one rank speaks for all. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>

struct startup {
    const char *program, *version;
    int status; /* for the hello: 0, EXIT_STATUS_USAGE or HELLO_STATUS_HELP */
    char *text; /* text to print; owned, NULL if none */
};

/* Takes what parsing returned (0, OPTIONS_HELP, OPTIONS_VERSION or -1 with `error`). */
void startup_take(struct startup *startup, int parsed, const struct error *error, char *(*help)(void));

/* Outside of a launcher a page or an error is printed at once: then true, with the exit status. */
bool startup_ends_here(const struct startup *startup, int *status);
void startup_fini(struct startup *startup);
