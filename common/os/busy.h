/* SPDX-License-Identifier: MIT */
/* Artificial load for studies: processes that compute endlessly next to this process. They share its session and
 * group, because some systems divide a core by these, and they always end with it. */
#pragma once

#include "common/util/error.h"

/* Binds this process to a core chosen by its local rank and starts `count` processes there. Call it before MPI
 * starts. */
int busy_start(unsigned count, struct error *error);
