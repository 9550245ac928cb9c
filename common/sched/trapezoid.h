/* SPDX-License-Identifier: MIT */
/* The trapezoid of tss, tfss and dtss: chunk sizes fall from `first` to `last` by a fixed decrement.
 *
 * tss and tfss store the decrement as a fraction rise/run. The fraction is D/1 for the paper's integer decrement,
 * and (F-L)/(S-1) for decrement=real. Both are exact, and the same formulas apply to both. (F-L)(S-1) < 2N fits 65
 * bits. */
#pragma once

#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

#include <math.h>

/* Indices of sched->constant.integer: first, last, the decrement rise/run, and the last step whose chunk is not
 * below `last`. A technique may use the indices from TRAPEZOID_OWN on. */
enum { TRAPEZOID_FIRST, TRAPEZOID_LAST, TRAPEZOID_RISE, TRAPEZOID_RUN, TRAPEZOID_END, TRAPEZOID_OWN };

extern const struct technique_param trapezoid_params[];

/* Sets sched->constant: by default F = ceil(N/(2P)), L = 1, S = ceil(2N/(F+L)), D = floor((F-L)/(S-1)), [DCA] eq 6. */
int trapezoid_init(struct sched *sched, struct error *error);

/* True if the trapezoid starts again when work remains after its last step. With variant=paper this is false, and
 * chunks of `last` iterations follow. */
bool trapezoid_begins_again(const struct sched *sched);

/* Returns the step at which the trapezoid must start again to cover the remaining work. */
uint64_t trapezoid_step_again(const struct sched *sched);

/* Returns the sum of F - floor((slope i + offset)/divisor) over i = 0 .. count-1, with F = `first`, in O(log
 * count). No term may be negative. */
uint128 trapezoid_sum(uint64_t first, uint128 slope, uint128 offset, uint128 divisor, uint64_t count);

/* Returns the number of steps of the trapezoid: S = ceil(2N/(F+L)), but at least 2, so that the decrement is
 * defined. */
static inline uint64_t trapezoid_steps(uint64_t iterations, uint64_t first, uint64_t last)
{
    uint128 twice = 2 * (uint128)iterations, sum = (uint128)first + last;
    uint64_t steps = (uint64_t)(twice / sum + (twice % sum != 0));
    return steps < 2 ? 2 : steps;
}

/* Returns the chunk size at which the trapezoid starts again if work remains after its end. Work remains if weighted
 * chunks were smaller, or if a lost worker's chunks came back. From this size on the trapezoid covers the remaining
 * work, so the loop does not end in many chunks of `last`. The size K follows from (K^2 - L^2)/(2D) = R. */
static inline double trapezoid_level(uint64_t remaining, double first, double last, double decrement)
{
    if (decrement <= 0)
        return first;
    double level = sqrt(last * last + 2 * decrement * (double)remaining);
    return level < first ? level : first;
}
