/* SPDX-License-Identifier: MIT */
/* A torus with bumps: see spin_surface.h. */
#include "deploy/examples/kernels/papers/spinimage/spin_surface.h"

#include <math.h>

/* Taylor polynomials. They are used only within an eighth of a turn of angle 0; there the errors are below 1e-16. */
static double sine_near_0(double x)
{
    double s = x * x;
    return x * (1 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72 * (1 - s / 110 * (1 - s / 156 * (1 - s / 210)))))));
}

static double cosine_near_0(double x)
{
    double s = x * x;
    return 1 - s / 2 *
                   (1 - s / 12 *
                            (1 - s / 30 * (1 - s / 56 * (1 - s / 90 * (1 - s / 132 * (1 - s / 182 * (1 - s / 240)))))));
}

void spin_sine(double turns, double *sine, double *cosine)
{
    double quarters = 4 * (turns - floor(turns)), nearest = floor(quarters + 0.5);
    double x = (quarters - nearest) * 1.57079632679489662, s = sine_near_0(x), c = cosine_near_0(x);
    switch ((int)nearest % 4) {
    case 0: *sine = s, *cosine = c; break;
    case 1: *sine = c, *cosine = -s; break;
    case 2: *sine = -s, *cosine = -c; break;
    default: *sine = -c, *cosine = s; break;
    }
}

enum { BUMPS_AROUND = 5, BUMPS_ACROSS = 3 };
#define RADIUS 0.4
#define BUMP   0.08

void spin_surface_point(size_t i, size_t points, double position[3], double normal[3])
{
    double u = ((double)i + 0.5) / (double)points, v = (double)i * 0.61803398874989485;
    double sin_u, cos_u, sin_v, cos_v, sin_5u, cos_5u, sin_3v, cos_3v;
    v -= floor(v);
    spin_sine(u, &sin_u, &cos_u);
    spin_sine(v, &sin_v, &cos_v);
    spin_sine(BUMPS_AROUND * u, &sin_5u, &cos_5u);
    spin_sine(BUMPS_ACROSS * v, &sin_3v, &cos_3v);
    double r = RADIUS + BUMP * cos_5u * cos_3v, ring = 1 + r * cos_v;
    double r_u = -BUMPS_AROUND * BUMP * sin_5u * cos_3v, r_v = -BUMPS_ACROSS * BUMP * cos_5u * sin_3v;
    /* derivatives by u and v in coordinates that rotate with u: the second axis points in the direction in which u
     * grows */
    double by_u[3] = {r_u * cos_v, ring, r_u * sin_v};
    double by_v[3] = {r_v * cos_v - r * sin_v, 0, r_v * sin_v + r * cos_v};
    double out = by_u[1] * by_v[2] - by_u[2] * by_v[1], along = by_u[2] * by_v[0] - by_u[0] * by_v[2];
    double up = by_u[0] * by_v[1] - by_u[1] * by_v[0], length = sqrt(out * out + along * along + up * up);
    position[0] = ring * cos_u;
    position[1] = ring * sin_u;
    position[2] = r * sin_v;
    normal[0] = (out * cos_u - along * sin_u) / length;
    normal[1] = (out * sin_u + along * cos_u) / length;
    normal[2] = up / length;
}
