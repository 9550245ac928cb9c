/* SPDX-License-Identifier: MIT */
/* `hdss simulate` as used by other commands. */
#pragma once

#include "common/util/error.h"

/* Checks whether `hdss simulate` accepts the command line, except argv[0]. Returns 0, OPTIONS_HELP, OPTIONS_VERSION or
 * -1. */
int simulate_check(int argc, char **argv, struct error *error);
