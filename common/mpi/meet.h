/* SPDX-License-Identifier: MIT */
/* The ranks find out which of them share a node: see meet.c. */
#pragma once

#include "common/mpi/runtime.h"

/* Collective. -1: invalid hello, or out of memory. */
int runtime_meet(struct runtime *runtime, const struct introduction *introduction);
