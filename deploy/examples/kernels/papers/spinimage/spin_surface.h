/* SPDX-License-Identifier: MIT */
/* The surface that spin images are made of where no file is given: a torus with bumps.
 *
 * With the angles u around the hole and v around the tube, and the tube's radius r(u, v) = 0.4 + 0.08 cos(5u) cos(3v):
 *
 *     x = (1 + r cos v) cos u,  y = (1 + r cos v) sin u,  z = r sin v
 *
 * Its normals are the cross product of the two derivatives, pointing outwards. Of N points number i is at
 * u = 2 pi (i + 1/2) / N and v = 2 pi i g, g being the golden ratio, so that they lie evenly in u and v however many
 * there are. Nothing but additions, multiplications, divisions and square roots is used, which are the same on every
 * machine. */
#pragma once

#include <stddef.h>

/* Point number i of `points`, and its normal, of length 1. */
void spin_surface_point(size_t i, size_t points, double position[3], double normal[3]);

/* Sine and cosine of an angle in turns, from 0 to less than 2^52. */
void spin_sine(double turns, double *sine, double *cosine);
