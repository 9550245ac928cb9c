/* SPDX-License-Identifier: MIT */
/* Whose ends concern this rank, and how they are reported: see detect.c. */
#pragma once

#include <stdbool.h>

struct runtime;

/* True where `rank` is to be watched here, as things are now. */
bool detect_concerns(const struct runtime *runtime, unsigned rank);

/* A detector has found that the peer has ended: it has left in order if it has said so. */
void detect_end(struct runtime *runtime, unsigned rank);
