/* SPDX-License-Identifier: MIT */
/* Selects the MPI library that carries the messages of this process: see load.c. */
#pragma once

#include "common/util/error.h"

int carrier_load(const char *program, struct error *error);
