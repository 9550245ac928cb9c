/* SPDX-License-Identifier: MIT */
/* The sphere before its collapse, after Evrard (1988): density M / (2 pi R^2 r) up to the radius R, with G = M = R = 1.
 */
#pragma once

#include <stddef.h>

/* Places of `count` particles of equal mass: the points of a cubic lattice that are nearest to the middle of one of its
 * cells, drawn in to the profile: a lattice radius q in parts of the largest becomes q^(3/2). Their centre of mass is
 * the origin. In the order of the lattice. -1 if memory is out. */
int sphere_fill(size_t count, double *x, double *y, double *z);
