/* SPDX-License-Identifier: MIT */
/* A launch that joins a set: connection of its master. */
#pragma once

#include "common/mpi/runtime.h"
#include "common/util/error.h"

struct pod;

/* Joins a set for all ranks of the launch. `set` is a ticket file, whose addresses are tried in turn (local sockets
 * only on the ticket's machine), or a local socket, or a port with a munge credential. If none answers, all are tried
 * again, with the file read again, for `patience_ns`. */
struct pod *pod_join(struct runtime *runtime, const char *set, uint64_t patience_ns, struct error *error);

/* Leaves the set after the link is closed. NULL is allowed. */
void pod_leave(struct pod *pod);
