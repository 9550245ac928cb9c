/* SPDX-License-Identifier: MIT */
/* For the chunk sizes of fac2 and viss: integers that are halved from batch to batch and rounded down. */
#pragma once

#include <stdint.h>

static inline uint64_t halved(uint64_t value, uint64_t times)
{
    return times < 64 ? value >> times : 0;
}

/* Returns the sum of floor(value / 2^k) over k = 1 .. times. This is value - floor(value / 2^times), minus the
 * number of ones in the lowest `times` bits of value. It follows from Legendre's formula for the exponent of two in
 * a factorial. */
static inline uint64_t halved_sum(uint64_t value, uint64_t times)
{
    uint64_t rest = halved(value, times), low = times < 64 ? value ^ rest << times : value;
    return value - rest - (uint64_t)__builtin_popcountll(low);
}
