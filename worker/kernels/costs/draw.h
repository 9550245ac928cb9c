/* SPDX-License-Identifier: MIT */
/* Drawing of costs, for distributions and measured profiles. */
#pragma once

#include <stdint.h>

/* Gamma-distributed cost with this mean and relative deviation `cov` > 0; a function of the arguments only. */
double draw_gamma(double mean_ns, double cov, uint64_t seed, uint64_t iteration);
