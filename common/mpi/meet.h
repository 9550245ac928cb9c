/* SPDX-License-Identifier: MIT */
/* The ranks find out which of them share a node: see meet.c. */
#pragma once

#include "common/mpi/runtime.h"

/* Collective. Returns -1 for an invalid hello, or if memory runs out. */
int runtime_meet(struct runtime *runtime, const struct introduction *introduction);

/* For the first rank of a launch without MPI, if a lost worker returns as another process. runtime_meet_again()
 * receives the hello of the new process and answers. The lane to the worker must have room for runtime_meet_bytes().
 * Returns 1 after the answer, and 0 if the hello has not arrived completely. Returns -1 if the hello is not from a
 * worker of this launch, or if memory runs out. */
size_t runtime_meet_bytes(const struct runtime *runtime);
int runtime_meet_again(struct runtime *runtime, unsigned rank);
