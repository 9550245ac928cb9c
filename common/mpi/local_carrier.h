/* SPDX-License-Identifier: MIT */
/* The carrier of workers alone in a launch without MPI. Its functions for messages are NULL: --dca two-sided, which
 * needs them, is over MPI. */
#pragma once

#include "common/carrier/carrier.h"

struct lanes;

/* Has `carrier` be that of these lanes, which are borrowed to the end of the process. Returns the communicator of all
 * ranks. */
carrier_comm local_carrier_begin(struct lanes *lanes);
