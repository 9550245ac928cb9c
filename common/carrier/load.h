/* SPDX-License-Identifier: MIT */
/* Choosing and loading the module of an MPI library that carries the messages of this process: see load.c. */
#pragma once

#include "common/util/error.h"

/* Has `carrier` be the one that the launcher of this process wants. -1 with one line where it is not there: which
 * launcher this is, which carriers there are, and what to install. */
int carrier_load(const char *program, struct error *error);
