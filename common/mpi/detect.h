/* SPDX-License-Identifier: MIT */
/* Which ranks' ends concern this rank, and how they are reported: see detect.c. */
#pragma once

#include <stdbool.h>

struct runtime;

bool detect_concerns(const struct runtime *runtime, unsigned rank);

/* Notes that a detector found the peer ended. The peer left in order if it had announced that; else it is lost. */
void detect_end(struct runtime *runtime, unsigned rank);
