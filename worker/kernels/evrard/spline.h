/* The cubic spline of Monaghan and Lattanzio (1985) in three dimensions: W(r, h) = spline(r/h) / h^3, 0 from 2 h on. */
#pragma once

#define SPLINE_NORM  0.318309886183790672 /* 1 / pi */
#define SPLINE_REACH 2.0

static inline double spline(double q)
{
    double rest = 2 - q;
    if (q < 1)
        return SPLINE_NORM * (1 - q * q * (1.5 - 0.75 * q));
    return q < 2 ? SPLINE_NORM * 0.25 * rest * rest * rest : 0;
}

/* Its derivative by q, divided by q. */
static inline double spline_slope(double q)
{
    double rest = 2 - q;
    if (q < 1)
        return SPLINE_NORM * (2.25 * q - 3);
    return q < 2 ? SPLINE_NORM * -0.75 * rest * rest / q : 0;
}
