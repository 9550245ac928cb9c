/* SPDX-License-Identifier: MIT */
/* The batches of fac2 and viss: integers that are halved, rounded down, from batch to batch. */
#pragma once

#include <stdint.h>

static inline uint64_t halved(uint64_t value, uint64_t times)
{
    return times < 64 ? value >> times : 0;
}

/* Returns the sum of floor(value / 2^k) over k = 1 .. times: the value without its low digits, minus the number of ones
 * in these (Legendre's formula for the factors two of a factorial). */
static inline uint64_t halved_sum(uint64_t value, uint64_t times)
{
    uint64_t rest = halved(value, times), low = times < 64 ? value ^ rest << times : value;
    return value - rest - (uint64_t)__builtin_popcountll(low);
}
