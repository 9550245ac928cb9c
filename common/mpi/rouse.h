/* SPDX-License-Identifier: MIT */
/* Sends SIGCONT to stopped ranks of this node when the run is over: see rouse.c. */
#pragma once

#include <stdint.h>

struct runtime;

void rouse_look(struct runtime *runtime, uint64_t now_ns);
