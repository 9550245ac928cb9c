/* SPDX-License-Identifier: MIT */
/* The initial sphere, after Evrard (1988): density M / (2 pi R^2 r) up to the radius R, with G = M = R = 1. */
#pragma once

#include <stddef.h>

/* Places `count` particles of equal mass: the points of a cubic lattice that are nearest to the middle of a cell,
 * moved to give the profile: q^(3/2) replaces the relative radius q. Their centre of mass is the origin, and they
 * are in the order of the lattice. Returns -1 if memory runs out. */
int sphere_fill(size_t count, double *x, double *y, double *z);
