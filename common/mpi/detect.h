/* SPDX-License-Identifier: MIT */
/* Decides whether the end of a rank concerns this rank, and reports it: see detect.c. */
#pragma once

#include <stdbool.h>

struct runtime;

bool detect_concerns(const struct runtime *runtime, unsigned rank);

/* A detector calls this after it has found that the peer has ended. A peer that has announced its leaving has left in
 * order. Any other peer is lost. */
void detect_end(struct runtime *runtime, unsigned rank);
