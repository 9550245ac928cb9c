/* SPDX-License-Identifier: MIT */
/* Decides which ranks' ends concern this rank, and reports them: see detect.c. */
#pragma once

#include <stdbool.h>

struct runtime;

bool detect_concerns(const struct runtime *runtime, unsigned rank);

/* A detector found that the peer has ended. The peer left in order if it had announced that; otherwise it is lost. */
void detect_end(struct runtime *runtime, unsigned rank);
