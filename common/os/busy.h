/* SPDX-License-Identifier: MIT */
/* The load that studies put on a core: processes beside this one that compute without end. They are of this process's
 * session and group, as some systems share a core by these, and end with it, however it ends. */
#pragma once

#include "common/util/error.h"

/* Binds this process to one core, of those that it may run on the one that its place among the ranks of the node says,
 * and starts `count` processes there. To be called before MPI is begun. -1 with one line; then none is left. */
int busy_start(unsigned count, struct error *error);
