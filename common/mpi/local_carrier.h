/* SPDX-License-Identifier: MIT */
/* A carrier without MPI: see local_carrier.c. Its message functions are NULL, so --dca two-sided, which uses them,
 * needs MPI. */
#pragma once

#include "common/carrier/carrier.h"

struct runtime;

/* `runtime` is borrowed until exit. Returns the communicator of all ranks. */
carrier_comm local_carrier_begin(struct runtime *runtime);
