/* SPDX-License-Identifier: MIT */
/* Drawing of costs, for distributions and measured profiles. */
#pragma once

#include <stdint.h>

/* Cost of an iteration from a gamma distribution with this mean and a standard deviation of `cov` > 0 times the mean;
 * depends on the arguments only. */
double draw_gamma(double mean_ns, double cov, uint64_t seed, uint64_t iteration);
