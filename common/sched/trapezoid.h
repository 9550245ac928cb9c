/* The trapezoid of tss and dtss: chunks that fall from `first` to `last` by a fixed decrement. */
#pragma once

#include "common/sched/technique.h"

#include <math.h>

/* How many steps the trapezoid has: S = ceil(2N/(F+L)), at least 2, so that a decrement can be told. */
static inline uint64_t trapezoid_steps(uint64_t iterations, uint64_t first, uint64_t last)
{
    __extension__ unsigned __int128 twice = 2 * (unsigned __int128)iterations, sum = (unsigned __int128)first + last;
    uint64_t steps = (uint64_t)(twice / sum + (twice % sum != 0));
    return steps < 2 ? 2 : steps;
}

/* Where to start again when the trapezoid has come to its end and work remains (weighted chunks were smaller than
 * the trapezoid's, or a lost worker's chunks came back): the chunk from which on it covers the rest, so that the
 * rest does not go out in crumbs of `last`. From (K^2 - L^2)/(2D) = R. */
static inline double trapezoid_level(uint64_t remaining, double first, double last, double decrement)
{
    if (decrement <= 0)
        return first;
    double level = sqrt(last * last + 2 * decrement * (double)remaining);
    return level < first ? level : first;
}
