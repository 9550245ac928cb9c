/* SPDX-License-Identifier: MIT */
/* Artificial load for studies: processes that compute endlessly next to this one. They share its session and group, by
 * which some systems divide a core, and end with it in any case. */
#pragma once

#include "common/util/error.h"

/* Binds this process to one of its cores, chosen by its local rank, and starts `count` processes there. Called before
 * MPI starts. On failure none are left. */
int busy_start(unsigned count, struct error *error);
