/* SPDX-License-Identifier: MIT */
/* The chunks of guided self-scheduling from the scheduling step alone, exactly: ceil(N/P ((P-1)/P)^i), of a whole N or
 * of an exact fraction of one.
 *
 * Doubles do not do: ceil(pow(..)) is 17 instead of 16 for N = 125, P = 5, i = 2, and a loop of 2^63 iterations
 * has more digits than a double. */
#pragma once

#include "common/util/twofold.h"

#include <stdint.h>

struct geometric;

/* Prepares for `iterations` (up to 2^63) and `workers` (at least 1): one block, to be released by free(). NULL
 * when memory is out. */
struct geometric *geometric_new(uint64_t iterations, unsigned workers);

/* Prepares for N = iterations part/parts, a rational number; part <= parts, parts at least 1. As geometric_new()
 * else. */
struct geometric *geometric_new_part(uint64_t iterations, uint64_t part, uint64_t parts, unsigned workers);

/* ceil(N/P ((P-1)/P)^step), at least 1. */
uint64_t geometric_ceil(const struct geometric *geometric, uint64_t step);

/* N/P ((P-1)/P)^step to 2^-57, the same on every machine; 0 where it is known to be below 1. */
struct twofold geometric_real(const struct geometric *geometric, uint64_t step);
