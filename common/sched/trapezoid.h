/* SPDX-License-Identifier: MIT */
/* The trapezoid of tss, tfss and dtss: chunks that fall from `first` to `last` by a fixed decrement.
 *
 * tss and tfss keep the decrement as a fraction of integers, rise/run, which is D/1 for the paper's whole decrement and
 * (F-L)/(S-1) for decrement=real, so that both are exact and one formula serves both. (F-L)(S-1) < 2N fits 64 bits
 * and one more. */
#pragma once

#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

#include <math.h>

/* In sched->constant.integer: first, last, the decrement, and the last step not below `last`. Free for the technique
 * from TRAPEZOID_OWN on. */
enum { TRAPEZOID_FIRST, TRAPEZOID_LAST, TRAPEZOID_RISE, TRAPEZOID_RUN, TRAPEZOID_END, TRAPEZOID_OWN };

/* first=, last=, decrement=, variant=. */
extern const struct technique_param trapezoid_params[];

/* F = ceil(N/(2P)), L = 1, S = ceil(2N/(F+L)), D = floor((F-L)/(S-1)), [DCA] eq 6, in sched->constant. */
int trapezoid_init(struct sched *sched, struct error *error);

/* False with variant=paper: what remains behind the last step goes out in chunks of `last`. */
bool trapezoid_begins_again(const struct sched *sched);

/* The step from which on the trapezoid covers what remains. */
uint64_t trapezoid_step_again(const struct sched *sched);

/* The sum of F - floor((slope i + offset)/divisor) over i = 0 .. count-1, none of them negative. O(log count). */
uint128 trapezoid_sum(uint64_t first, uint128 slope, uint128 offset, uint128 divisor, uint64_t count);

/* Number of steps of the trapezoid: S = ceil(2N/(F+L)), at least 2, so that a decrement can be told. */
static inline uint64_t trapezoid_steps(uint64_t iterations, uint64_t first, uint64_t last)
{
    uint128 twice = 2 * (uint128)iterations, sum = (uint128)first + last;
    uint64_t steps = (uint64_t)(twice / sum + (twice % sum != 0));
    return steps < 2 ? 2 : steps;
}

/* Chunk from which to start again when the trapezoid has come to its end and work remains (weighted chunks were smaller
 * than the trapezoid's, or a lost worker's chunks came back): the chunk from which on it covers the rest, so that the
 * rest does not go out in crumbs of `last`. From (K^2 - L^2)/(2D) = R. */
static inline double trapezoid_level(uint64_t remaining, double first, double last, double decrement)
{
    if (decrement <= 0)
        return first;
    double level = sqrt(last * last + 2 * decrement * (double)remaining);
    return level < first ? level : first;
}
