/* SPDX-License-Identifier: MIT */
/* Selection of the MPI library that carries messages of this process: see load.c. */
#pragma once

#include "common/util/error.h"

/* Sets `carrier` according to the launcher. If it is missing, the error names the package to install. */
int carrier_load(const char *program, struct error *error);
