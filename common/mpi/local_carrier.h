/* SPDX-License-Identifier: MIT */
/* A carrier without MPI: see local_carrier.c. Its message functions are NULL, so --dca two-sided, which uses them,
 * needs MPI. */
#pragma once

#include "common/carrier/carrier.h"

struct runtime;

/* Returns the communicator of all ranks. `runtime` is borrowed until the process exits. */
carrier_comm local_carrier_begin(struct runtime *runtime);
