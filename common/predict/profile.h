/* SPDX-License-Identifier: MIT */
/* The profile of a loop, that is the time of an iteration along it: a coarse curve from a few timed iterations, and the
 * spread that is left beside it.
 *
 * The loop is seen as PROFILE_CELLS equal parts with a mean time each. What differs between the parts is a trend as far
 * as it is more than chance would make it; the rest is the iterations' own spread. The difference matters: a trend adds
 * up over a chunk, spread averages out. */
#pragma once

#include <stdint.h>

#define PROFILE_CELLS 16

/* Iterations that were timed, by the part of the loop they are from. Times in any unit. */
struct profile_samples {
    uint64_t count[PROFILE_CELLS];
    double mean[PROFILE_CELLS];
    double overall_mean, overall_deviation; /* mean and deviation of all samples */
};

struct profile {
    double level[PROFILE_CELLS + 1]; /* relative time at the borders of the parts, linear between; its integral is 1 */
    double integral[PROFILE_CELLS + 1]; /* integral of `level`, from the loop's beginning to the border */
    double cov;                         /* deviation / mean of the iterations beside the trend */
};

/* A loop without trend whose iterations have this coefficient of variation. */
void profile_init_flat(struct profile *profile, double cov);

/* Makes the profile from samples; a flat one where there are none or their mean is 0. */
void profile_init(struct profile *profile, const struct profile_samples *samples);

/* Work before relative position `x` in [0, 1], as a share of the whole loop's. */
double profile_work(const struct profile *profile, double x);
