/* SPDX-License-Identifier: MIT */
/* Costs that are drawn, for distributions and measured profiles. */
#pragma once

#include <stdint.h>

/* The cost of an iteration from a gamma distribution with this mean, and with the standard deviation `cov` in parts of
 * the mean, above 0: a function of its arguments alone. */
double draw_gamma(double mean_ns, double cov, uint64_t seed, uint64_t iteration);
