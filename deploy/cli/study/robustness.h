/* SPDX-License-Identifier: MIT */
/* Robustness of the cells of a study against slow workers, busy cores and lost nodes, by the procedure FePIA of Ali et
 * al. 2004: the feature is the loop time, the perturbation is what the cell has on the axis that the study calls
 * nominal, and the loop time is tolerable up to `tolerance` times that of the nominal cell.
 *
 * The robustness radius is the least distance from the nominal perturbation at which the loop time is no longer
 * tolerable. A perturbation is a vector with a component for each worker, its slowdown or its number of busy processes,
 * and distances are Euclidean; for lost nodes the distance is their number. Between two distances of the study the loop
 * time is taken to lie on a straight line; of several perturbations at one distance the slowest run counts. */
#pragma once

#include "deploy/cli/study/summary.h"

#include <stdio.h>

/* What the radius of the cells that differ in the perturbation alone is. */
struct robustness {
    bool is_known;      /* false: there is no nominal run, or none of another distance */
    bool is_beyond;     /* all perturbations of the study are tolerable: the radius is above `radius` */
    double radius;      /* distance; the largest of the study where is_beyond */
    double tolerable_s; /* the longest loop time that is tolerated */
};

/* True if the axis can be that of the perturbation: slowdown, load, fail_nodes. */
bool robustness_is_axis(int axis);

/* The distance between two values of the axis for so many workers. */
double robustness_distance(int axis, const char *value, const char *nominal, unsigned workers);

/* The nominal cell of a cell, in a study that has one. */
unsigned robustness_nominal(const struct summary *summary, unsigned cell);

/* The robustness of the cells that have this nominal one. -1 when memory is out. */
int robustness_of(const struct summary *summary, unsigned nominal, struct robustness *robustness);

/* Adds the measures `degradation` of each cell and `radius` of the nominal ones, whose values go into `summary`;
 * nothing in a study without a nominal axis. -1 when memory is out. */
int robustness_find(struct summary *summary);
