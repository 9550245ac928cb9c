/* SPDX-License-Identifier: MIT */
/* The helper's side of channel.h: runs the kernel for its worker. */
#pragma once

#include "worker/exec/inline.h"
#include "worker/exec/channel.h"

/* Opens the kernel and runs commands until the worker says to leave. `memory`: the shared memory of `file`; it begins
 * with the channel. `given`: kernel, values, loop, probe range and time steps; the other configuration comes from the
 * channel. `failure`: the reason if there is no kernel, otherwise NULL. */
void serve(void *memory, int file, int bell, const struct exec_config *given, const char *failure);
