/* SPDX-License-Identifier: MIT */
/* The cubic spline of Monaghan and Lattanzio (1985) in three dimensions: W(r, h) = spline(r/h) / h^3, 0 from 2 h on. */
#pragma once

#define SPLINE_NORM  0.318309886183790672
#define SPLINE_REACH 2.0

/* A negative 2 - q or 1 - q counts as 0. The conditions must compile without branches, because branches would often be
 * mispredicted. */
static inline double spline(double q)
{
    double far = q < 2 ? 2 - q : 0, close = q < 1 ? 1 - q : 0;
    return SPLINE_NORM * (0.25 * (far * far * far) - close * close * close);
}

static inline double spline_slope(double q)
{
    double far = q < 2 ? 2 - q : 0, close = q < 1 ? 1 - q : 0;
    return SPLINE_NORM * (3 * (close * close) - 0.75 * (far * far));
}
