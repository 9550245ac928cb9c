/* SPDX-License-Identifier: MIT */
/* Ranks of this node that are stopped when the run is over: see rouse.c. */
#pragma once

#include <stdint.h>

struct runtime;

/* Lets stopped ranks go on once an END has come by here; cheap before that, and when it is not due. */
void rouse_look(struct runtime *runtime, uint64_t now_ns);
