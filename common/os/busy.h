/* SPDX-License-Identifier: MIT */
/* Artificial load for studies: processes that compute endlessly next to this one. They share its session and group, by
 * which some systems divide a core, and end with it in any case. */
#pragma once

#include "common/util/error.h"

/* Binds this process to a core chosen by its local rank and starts `count` processes there. Call it before MPI
 * starts. */
int busy_start(unsigned count, struct error *error);
