/* SPDX-License-Identifier: MIT */
/* The trapezoid of tss, tfss and dtss: chunks fall from `first` to `last` by a fixed decrement.
 *
 * tss and tfss store the decrement as a fraction rise/run: D/1 for the paper's integer decrement and (F-L)/(S-1) for
 * decrement=real, so both are exact and share the formulas. (F-L)(S-1) < 2N fits 65 bits. */
#pragma once

#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

#include <math.h>

/* In sched->constant.integer: first, last, the decrement rise/run, the last step not below `last`; then a technique's
 * own. */
enum { TRAPEZOID_FIRST, TRAPEZOID_LAST, TRAPEZOID_RISE, TRAPEZOID_RUN, TRAPEZOID_END, TRAPEZOID_OWN };

extern const struct technique_param trapezoid_params[];

/* F = ceil(N/(2P)), L = 1, S = ceil(2N/(F+L)), D = floor((F-L)/(S-1)), [DCA] eq 6, in sched->constant. */
int trapezoid_init(struct sched *sched, struct error *error);

/* False with variant=paper, which hands out the work that remains after the last step in chunks of `last`. */
bool trapezoid_begins_again(const struct sched *sched);

/* Returns the step from which on the trapezoid covers the remaining work. */
uint64_t trapezoid_step_again(const struct sched *sched);

/* Sum of F - floor((slope i + offset)/divisor) over i = 0 .. count-1, none negative. O(log count). */
uint128 trapezoid_sum(uint64_t first, uint128 slope, uint128 offset, uint128 divisor, uint64_t count);

/* Steps of the trapezoid: S = ceil(2N/(F+L)), at least 2, so that the decrement is defined. */
static inline uint64_t trapezoid_steps(uint64_t iterations, uint64_t first, uint64_t last)
{
    uint128 twice = 2 * (uint128)iterations, sum = (uint128)first + last;
    uint64_t steps = (uint64_t)(twice / sum + (twice % sum != 0));
    return steps < 2 ? 2 : steps;
}

/* Returns the chunk at which the trapezoid starts again if work remains after its end (because weighted chunks were
 * smaller, or a lost worker's chunks came back). From this chunk on it covers the rest, which therefore does not end in
 * chunks of `last`. From (K^2 - L^2)/(2D) = R. */
static inline double trapezoid_level(uint64_t remaining, double first, double last, double decrement)
{
    if (decrement <= 0)
        return first;
    double level = sqrt(last * last + 2 * decrement * (double)remaining);
    return level < first ? level : first;
}
