/* SPDX-License-Identifier: MIT */
/* A helper's own end: runs the kernel as its worker says, see channel.h. */
#pragma once

#include "worker/exec/inline.h"
#include "worker/exec/channel.h"

/* Opens the kernel and takes commands until the worker says to leave. The configuration has kernel, values, loop, the
 * probe and time steps; the worker has said the rest in the channel. `memory` is all of the shared memory, `file`, the
 * channel at its beginning; `failure`: NULL, or why there is no kernel. */
void serve(void *memory, int file, int bell, const struct exec_config *given, const char *failure);
