/* SPDX-License-Identifier: MIT */
/* Robustness of the cells of a study against slow workers, busy cores and lost nodes, by FePIA
 * (common/metrics/fepia.h): the perturbation is what the cell has on the axis that the study calls nominal. A
 * perturbation is a vector with a component for each worker, its slowdown or its number of busy processes, and
 * distances are Euclidean; for lost nodes the distance is their number. */
#pragma once

#include "common/metrics/fepia.h"
#include "deploy/cli/study/summary.h"

#include <stdio.h>

/* True if the axis can be that of the perturbation: slowdown, load, fail_nodes. */
bool robustness_is_axis(int axis);

/* The distance between two values of the axis for so many workers. */
double robustness_distance(int axis, const char *value, const char *nominal, unsigned workers);

/* The nominal cell of a cell, in a study that has one. */
unsigned robustness_nominal(const struct summary *summary, unsigned cell);

/* The robustness radius of the cells that have this nominal one. -1 when memory is out. */
int robustness_of(const struct summary *summary, unsigned nominal, struct fepia_radius *radius);

/* Adds the measures `degradation` of each cell and `radius` of the nominal ones, whose values go into `summary`;
 * nothing in a study without a nominal axis. -1 when memory is out. */
int robustness_find(struct summary *summary);
