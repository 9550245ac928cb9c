/* SPDX-License-Identifier: MIT */
/* The initial sphere, after Evrard (1988): density M / (2 pi R^2 r) up to the radius R, with G = M = R = 1. */
#pragma once

#include <stddef.h>

/* Makes `count` particles of equal mass. They begin as the points of a cubic lattice that are nearest to the middle of
 * a lattice cell. Then the relative radius q of each point is changed to q^(3/2), which gives the density profile. The
 * centre of mass is the origin, and the particles are in the order of the lattice. Returns -1 if memory runs out. */
int sphere_fill(size_t count, double *x, double *y, double *z);
