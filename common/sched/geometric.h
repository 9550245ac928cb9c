/* SPDX-License-Identifier: MIT */
/* Computes the chunks of guided self-scheduling exactly from the scheduling step i: ceil(N/P ((P-1)/P)^i). N may be a
 * whole number or a fraction.
 *
 * Doubles are not exact enough. For N = 125, P = 5, i = 2, ceil(pow(..)) gives 17 instead of 16. Besides, 2^63
 * iterations have more digits than a double. */
#pragma once

#include "common/util/twofold.h"

#include <stdint.h>

struct geometric;

/* `iterations` may be up to 2^63; at least one worker is required. The caller frees the result with free(). Returns
 * NULL if memory runs out. */
struct geometric *geometric_new(uint64_t iterations, unsigned workers);

/* Like geometric_new(), for the rational number N = iterations part/parts; requires part <= parts and parts >= 1. */
struct geometric *geometric_new_part(uint64_t iterations, uint64_t part, uint64_t parts, unsigned workers);

/* Returns ceil(N/P ((P-1)/P)^step), at least 1. */
uint64_t geometric_ceil(const struct geometric *geometric, uint64_t step);

/* Returns N/P ((P-1)/P)^step with an error below 2^-57, the same on every machine. May return 0 if the value is
 * below 1. */
struct twofold geometric_real(const struct geometric *geometric, uint64_t step);
