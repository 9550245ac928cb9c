/* SPDX-License-Identifier: MIT */
/* The surface for spin images if no file is given: a torus with bumps.
 *
 * The angle u goes around the hole, and the angle v around the tube. The tube's radius is r(u, v) = 0.4 + 0.08 cos(5u)
 * cos(3v). A point of the surface is
 *
 *     x = (1 + r cos v) cos u,  y = (1 + r cos v) sin u,  z = r sin v
 *
 * Normals are the cross product of the two derivatives, and point outwards. Of N points, point number i is at u = 2 pi
 * (i + 1/2) / N and v = 2 pi i g, in which g is the golden ratio. So any number of points is spread evenly. Only
 * additions, multiplications, divisions and square roots are used, which give the same bits on every machine. */
#pragma once

#include <stddef.h>

void spin_surface_point(size_t i, size_t points, double position[3], double normal[3]);

/* The angle is in turns, from 0 to less than 2^52. */
void spin_sine(double turns, double *sine, double *cosine);
