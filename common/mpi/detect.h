/* SPDX-License-Identifier: MIT */
/* Which ranks' ends concern this rank, and how they are reported: see detect.c. */
#pragma once

#include <stdbool.h>

struct runtime;

/* True if `rank` must be watched in the present state. */
bool detect_concerns(const struct runtime *runtime, unsigned rank);

/* A detector found that the peer has ended; if it announced that, it left in order. */
void detect_end(struct runtime *runtime, unsigned rank);
