/* SPDX-License-Identifier: MIT */
/* A launch that joins a set: its master's way there. */
#pragma once

#include "common/mpi/runtime.h"
#include "common/util/error.h"

struct pod;

/* Joins the set whose ticket is in the file `set`, for all ranks of the launch, at the first of its addresses where
 * that one answers, of sockets only on the machine that the ticket names; or the set that listens at the socket `set`
 * of this machine, or at the port `set`, by a credential of munge. Where none answers they are tried again and again,
 * as the file has them then, for `patience_ns`. NULL with one line.
 */
struct pod *pod_join(struct runtime *runtime, const char *set, uint64_t patience_ns, struct error *error);

/* Behind the link: leaves the set. NULL is fine. */
void pod_leave(struct pod *pod);
