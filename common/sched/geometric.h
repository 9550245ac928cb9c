/* SPDX-License-Identifier: MIT */
/* The chunks of guided self-scheduling computed exactly from the scheduling step: ceil(N/P ((P-1)/P)^i), for a whole N
 * or an exact fraction.
 *
 * Doubles are not exact enough: ceil(pow(..)) gives 17 instead of 16 for N = 125, P = 5, i = 2, and 2^63 iterations
 * have more digits than a double. */
#pragma once

#include "common/util/twofold.h"

#include <stdint.h>

struct geometric;

/* For `iterations` up to 2^63 and at least one worker. The caller frees it with free(). */
struct geometric *geometric_new(uint64_t iterations, unsigned workers);

/* Like geometric_new(), for the rational number N = iterations part/parts; requires part <= parts and parts >= 1. */
struct geometric *geometric_new_part(uint64_t iterations, uint64_t part, uint64_t parts, unsigned workers);

/* ceil(N/P ((P-1)/P)^step), at least 1. */
uint64_t geometric_ceil(const struct geometric *geometric, uint64_t step);

/* N/P ((P-1)/P)^step, exact to 2^-57 and the same on every machine; 0 if it is known to be below 1. */
struct twofold geometric_real(const struct geometric *geometric, uint64_t step);
