/* SPDX-License-Identifier: MIT */
/* Artificial load for studies: processes that compute endlessly beside this process. They belong to its session and
 * process group, because some systems divide a core among sessions or groups, and they always end with this process. */
#pragma once

#include "common/util/error.h"

/* Binds this process to a core chosen by its local rank, and starts `count` processes on the same core. Call it before
 * MPI starts. */
int busy_start(unsigned count, struct error *error);
