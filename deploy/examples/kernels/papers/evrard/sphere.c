/* SPDX-License-Identifier: MIT */
/* The initial sphere: see sphere.h. Lattice coordinates are odd integers, twice the real coordinates, so that distances
 * can be compared without rounding. */
#include "deploy/examples/kernels/papers/evrard/sphere.h"

#include "deploy/examples/kernels/papers/evrard/root.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define PI 3.14159265358979324

struct lattice {
    int32_t most;
    uint32_t limit2;
    size_t at_limit;
    double radius;
};

static uint32_t square_of(int32_t i, int32_t j, int32_t k)
{
    return (uint32_t)(i * i + j * j + k * k);
}

static void count_shells(int32_t most, size_t *counts)
{
    for (int32_t i = 1; i <= most; i += 2)
        for (int32_t j = 1; j <= most; j += 2)
            for (int32_t k = 1; k <= most; k += 2)
                counts[square_of(i, j, k)] += 8;
}

static int sphere_measure(struct lattice *lattice, size_t count)
{
    lattice->radius = 2 * cube_root(3 * (double)count / (4 * PI));
    lattice->most = (int32_t)lattice->radius / 2 * 2 + 5;
    size_t *counts = calloc((size_t)square_of(lattice->most, lattice->most, lattice->most) + 1, sizeof *counts);
    if (counts == NULL)
        return -1;
    count_shells(lattice->most, counts);
    size_t in = 0;
    for (lattice->limit2 = 0; in + counts[lattice->limit2] < count; lattice->limit2++)
        in += counts[lattice->limit2];
    lattice->at_limit = count - in;
    free(counts);
    return 0;
}

/* Moves the centre of mass to the origin, so that pictures do not drift. */
static void centre(double *place, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += place[i];
    for (size_t i = 0; i < count; i++)
        place[i] -= sum / (double)count;
}

int sphere_fill(size_t count, double *x, double *y, double *z)
{
    struct lattice lattice;
    size_t n = 0, at_limit = 0;
    if (sphere_measure(&lattice, count) < 0)
        return -1;
    for (int32_t i = -lattice.most; i <= lattice.most; i += 2)
        for (int32_t j = -lattice.most; j <= lattice.most; j += 2)
            for (int32_t k = -lattice.most; k <= lattice.most; k += 2) {
                uint32_t square = square_of(i, j, k);
                if (square > lattice.limit2 || (square == lattice.limit2 && at_limit++ >= lattice.at_limit))
                    continue;
                double draw = sqrt(sqrt(square) / lattice.radius) / lattice.radius;
                x[n] = i * draw;
                y[n] = j * draw;
                z[n++] = k * draw;
            }
    centre(x, count);
    centre(y, count);
    centre(z, count);
    return 0;
}
