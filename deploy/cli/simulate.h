/* SPDX-License-Identifier: MIT */
/* `hdss simulate` for other commands. */
#pragma once

#include "common/util/error.h"

/* Checks whether `hdss simulate` can do what the command line asks for; argv[0] is not looked at. 0, one of
 * OPTIONS_*, or -1 with one line. */
int simulate_check(int argc, char **argv, struct error *error);
