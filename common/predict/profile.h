/* SPDX-License-Identifier: MIT */
/* The profile of a loop, from a few timed iterations: a coarse curve of the time of an iteration along the loop, and
 * the spread of the times around this curve.
 *
 * The loop is divided into PROFILE_CELLS equal parts, each with a mean time. A difference between parts counts as a
 * trend if chance cannot explain it, and as spread otherwise. The distinction matters because within a chunk a trend
 * adds up, but spread averages out. */
#pragma once

#include <stdint.h>

#define PROFILE_CELLS 16

struct profile_samples {
    uint64_t count[PROFILE_CELLS];
    double mean[PROFILE_CELLS];
    double overall_mean, overall_deviation;
};

struct profile {
    /* Time of an iteration at the borders of the parts, relative to the mean time. Between borders the curve is
     * linear. The integral of the curve is 1. */
    double level[PROFILE_CELLS + 1];
    double integral[PROFILE_CELLS + 1]; /* integral of `level` from the start to each border */
    double cov;                         /* coefficient of variation of the iterations' times around the trend */
};

void profile_init_flat(struct profile *profile, double cov);

/* If there are no samples, or if their mean is 0, the profile is flat. */
void profile_init(struct profile *profile, const struct profile_samples *samples);

/* Returns the part of the loop's work that is before the relative position `x`; both are from 0 to 1. */
double profile_work(const struct profile *profile, double x);
