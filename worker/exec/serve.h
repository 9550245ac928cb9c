/* SPDX-License-Identifier: MIT */
/* The helper's side: runs the kernel for its worker, see channel.h. */
#pragma once

#include "worker/exec/inline.h"
#include "worker/exec/channel.h"

/* Opens the kernel and runs commands until the worker says to leave. `given` has kernel, values, loop, probe and time
 * steps; the rest is in the channel. `memory`: the whole shared memory of `file`, beginning with the channel;
 * `failure`: why there is no kernel, or NULL. */
void serve(void *memory, int file, int bell, const struct exec_config *given, const char *failure);
