/* SPDX-License-Identifier: MIT */
/* Drawing costs, for distributions and for profiles. */
#pragma once

#include <stdint.h>

/* A gamma-distributed cost with this mean and relative deviation `cov` > 0. The cost depends on the arguments only. */
double draw_gamma(double mean_ns, double cov, uint64_t seed, uint64_t iteration);
