/* SPDX-License-Identifier: MIT */
/* Least chunks that follow from the loop: half of what mfsc cuts, as in studies of two levels of scheduling. */
#pragma once

#include "common/util/error.h"

#include <stdint.h>

/* The value of the axis that stands for it. */
#define LEAST_HALF_MFSC "mfsc/2"

/* Half the chunk that mfsc cuts of (a step of) the kernel's loop for so many workers, at least 1. `kernel` is its name
 * and parameters. This may load code. -1 with one line. */
int least_half_mfsc(const char *kernel, unsigned workers, uint64_t *chunk, struct error *error);
