/* SPDX-License-Identifier: MIT */
/* The profile of a loop: a coarse curve of the time of an iteration along the loop, from a few timed iterations, and
 * the remaining spread.
 *
 * The loop is divided into PROFILE_CELLS equal parts with a mean time each. Differences between the parts count as a
 * trend as far as they exceed chance; the rest is spread of the iterations. A trend adds up over a chunk, spread
 * averages out. */
#pragma once

#include <stdint.h>

#define PROFILE_CELLS 16

/* Timed iterations by part of the loop, in any unit. */
struct profile_samples {
    uint64_t count[PROFILE_CELLS];
    double mean[PROFILE_CELLS];
    double overall_mean, overall_deviation; /* of all samples */
};

struct profile {
    double level[PROFILE_CELLS + 1];    /* relative time at the borders of the parts, linear between; integral 1 */
    double integral[PROFILE_CELLS + 1]; /* integral of `level` from the start to each border */
    double cov;                         /* deviation / mean of the iterations around the trend */
};

/* A loop without trend with this coefficient of variation. */
void profile_init_flat(struct profile *profile, double cov);

/* Makes the profile from samples; flat if there are none or their mean is 0. */
void profile_init(struct profile *profile, const struct profile_samples *samples);

/* Share of the loop's work before relative position `x` in [0, 1]. */
double profile_work(const struct profile *profile, double x);
