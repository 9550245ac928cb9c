/* SPDX-License-Identifier: MIT */
/* The carrier of workers alone in a launch without MPI: see local_carrier.c. Its functions for messages are NULL, so
 * that --dca two-sided, which calls them, needs MPI. */
#pragma once

#include "common/carrier/carrier.h"

struct runtime;

/* Has `carrier` be that of this rank, whose launch is without MPI, and which is borrowed to the end of the process.
 * Returns the communicator of all ranks. */
carrier_comm local_carrier_begin(struct runtime *runtime);
