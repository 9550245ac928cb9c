/* SPDX-License-Identifier: MIT */
/* What other commands need of `hdss simulate`. */
#pragma once

#include "common/util/error.h"

/* Fails if `hdss simulate` would refuse the command line; ignores argv[0]. Returns 0, OPTIONS_HELP, OPTIONS_VERSION or
 * -1. */
int simulate_check(int argc, char **argv, struct error *error);
