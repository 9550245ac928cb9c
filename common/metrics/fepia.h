/* SPDX-License-Identifier: MIT */
/* The robustness radius by the procedure FePIA of Ali et al. 2004: the feature is the loop time, which is tolerable up
 * to so many times that of the undisturbed run, and the radius is the least distance of a perturbation at which it is
 * not. Distances between perturbations are the caller's: Euclidean, with a component for each worker, or a number of
 * lost workers or nodes. Between two distances the loop time is taken to lie on a straight line; of several runs at one
 * distance the slowest counts. */
#pragma once

#include <stdbool.h>

/* The loop time is tolerable up to so many times the undisturbed one, unless somebody says otherwise. */
#define FEPIA_TOLERANCE     1.2
#define FEPIA_TOLERANCE_MAX 1000

/* A perturbed run: its distance from the undisturbed one, above 0, and its loop time; INFINITY where it did not come to
 * its end. */
struct fepia_run {
    double distance, elapsed_s;
};

struct fepia_radius {
    bool is_known;      /* false: there is no undisturbed run, or no perturbed one */
    bool is_beyond;     /* all runs are tolerable: the radius is above `radius` */
    double radius;      /* distance; the largest of the runs where is_beyond */
    double tolerable_s; /* the longest loop time that is tolerated */
};

/* The radius of the runs, which are sorted; `nominal_s` is the loop time of the undisturbed one, 0 where there is none.
 */
struct fepia_radius fepia_radius_of(struct fepia_run *runs, unsigned count, double nominal_s, double tolerance);
