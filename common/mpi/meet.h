/* SPDX-License-Identifier: MIT */
/* The ranks find out which of them share a node: see meet.c. */
#pragma once

#include "common/mpi/runtime.h"

/* Collective. -1: invalid hello, or out of memory. */
int runtime_meet(struct runtime *runtime, const struct introduction *introduction);

/* For the first rank of a launch without MPI: runtime_meet_again() receives the hello of a worker that has returned,
 * and answers; the worker's lane must have room for runtime_meet_bytes(). Returns 1 after the answer, 0 if the hello
 * has not arrived completely, or -1 if it is not from a worker of this launch or memory runs out. */
size_t runtime_meet_bytes(const struct runtime *runtime);
int runtime_meet_again(struct runtime *runtime, unsigned rank);
