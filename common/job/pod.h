/* SPDX-License-Identifier: MIT */
/* A launch that joins a set: its master's way there. */
#pragma once

#include "common/mpi/runtime.h"
#include "common/util/error.h"

struct pod;

/* Joins the set whose ticket is in that file, for all ranks of the launch, at the first of its addresses where one
 * answers. NULL with one line. */
struct pod *pod_join(struct runtime *runtime, const char *ticket, struct error *error);

/* Behind the link: leaves the set. NULL is fine. */
void pod_leave(struct pod *pod);
