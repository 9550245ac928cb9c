/* SPDX-License-Identifier: MIT */
/* The ranks find out which of them share a node: see meet.c. */
#pragma once

#include "common/mpi/runtime.h"

/* Collective. -1: invalid hello, or out of memory. */
int runtime_meet(struct runtime *runtime, const struct introduction *introduction);

/* For the first rank of a launch without MPI: runtime_meet_again() takes the arrival of a worker that has returned,
 * after all of it is in its lane, and answers; the lane must have room for runtime_meet_bytes(). Returns 1: done, 0:
 * not yet, -1: it cannot be a worker of this launch, or memory ran out. */
size_t runtime_meet_bytes(const struct runtime *runtime);
int runtime_meet_again(struct runtime *runtime, unsigned rank);
