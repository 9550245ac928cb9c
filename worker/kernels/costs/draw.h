/* SPDX-License-Identifier: MIT */
/* Drawing costs, for distributions and for profiles. */
#pragma once

#include <stdint.h>

/* Returns a cost with a gamma distribution of this mean and the relative deviation `cov` > 0. The cost depends on the
 * arguments only. */
double draw_gamma(double mean_ns, double cov, uint64_t seed, uint64_t iteration);
