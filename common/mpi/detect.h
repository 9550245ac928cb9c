/* SPDX-License-Identifier: MIT */
/* Decides whether the end of a rank concerns this rank, and reports it: see detect.c. */
#pragma once

#include <stdbool.h>

struct runtime;

bool detect_concerns(const struct runtime *runtime, unsigned rank);

/* A detector calls this after it has found that the peer has ended. If the peer had announced that it leaves, it has
 * left in order. Otherwise it is lost. */
void detect_end(struct runtime *runtime, unsigned rank);
