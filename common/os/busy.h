/* SPDX-License-Identifier: MIT */
/* Artificial load for studies: processes that compute endlessly on the same core as this process. They are in the
 * session and process group of this process, because some systems divide a core among sessions or groups. They end when
 * this process ends. */
#pragma once

#include "common/util/error.h"

/* Binds this process to a core, which its local rank selects, and starts `count` processes on the same core. Call it
 * before MPI starts. */
int busy_start(unsigned count, struct error *error);
