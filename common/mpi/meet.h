/* SPDX-License-Identifier: MIT */
/* The ranks find out who is where: see meet.c. */
#pragma once

#include "common/mpi/runtime.h"

/* Collective. -1 where a hello is none, or memory is out. */
int runtime_meet(struct runtime *runtime, const struct introduction *introduction);
