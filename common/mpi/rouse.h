/* SPDX-License-Identifier: MIT */
/* Continues stopped ranks of this node when the run is over: see rouse.c. */
#pragma once

#include <stdint.h>

struct runtime;

/* Continues stopped ranks of this node after an END; cheap otherwise. */
void rouse_look(struct runtime *runtime, uint64_t now_ns);
