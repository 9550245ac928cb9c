/* SPDX-License-Identifier: MIT */
/* Spin images: a reference implementation in plain C, and the selection of vector variants. See spin.h. */
#include "deploy/examples/kernels/papers/spinimage/spin.h"

#include "worker/kernels/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Coordinate of the points that fill the last block. These points are farther away than any cell, and the square of the
 * coordinate is finite. */
#define FAR_AWAY 1e18f

int spin_cloud_init(struct spin_cloud *cloud, size_t points)
{
    size_t room = (points + SPIN_BLOCK - 1) / SPIN_BLOCK * SPIN_BLOCK;
    float *numbers = aligned_alloc(64, room * SPIN_AXES * sizeof *numbers);
    if (numbers == NULL)
        return -1;
    *cloud = (struct spin_cloud){.points = points, .room = room};
    for (int axis = 0; axis < SPIN_AXES; axis++) {
        cloud->axis[axis] = numbers + (size_t)axis * room;
        for (size_t i = points; i < room; i++)
            cloud->axis[axis][i] = axis < SPIN_NX ? FAR_AWAY : 0;
    }
    return 0;
}

void spin_cloud_fini(struct spin_cloud *cloud)
{
    free(cloud->axis[0]);
    free(cloud->place);
    free(cloud->bound);
}

void spin_cloud_add(struct spin_cloud *cloud, const double position[3], const double normal[3])
{
    for (int i = 0; i < 3; i++) {
        cloud->axis[SPIN_X + i][cloud->filled] = (float)position[i];
        cloud->axis[SPIN_NX + i][cloud->filled] = (float)normal[i];
    }
    cloud->filled++;
}

struct spin_eye {
    float x, y, z, nx, ny, nz, limit;
    float half, last, width;
};

static inline struct spin_eye spin_eye_of(const struct spin_cloud *cloud, size_t point, uint32_t width)
{
    float *const *axis = cloud->axis;
    size_t at = cloud->place[point];
    return (struct spin_eye){axis[SPIN_X][at],  axis[SPIN_Y][at],  axis[SPIN_Z][at], axis[SPIN_NX][at],
                             axis[SPIN_NY][at], axis[SPIN_NZ][at], cloud->limit,     0.5f * (float)width,
                             (float)width - 1,  (float)width};
}

static inline int32_t spin_ceil(float number)
{
    int32_t whole = (int32_t)number;
    return whole + (number > (float)whole);
}

static inline int32_t spin_cell(const struct spin_eye *e, float x, float y, float z, float nx, float ny, float nz)
{
    float dx = x - e->x, dy = y - e->y, dz = z - e->z;
    float beta = dx * e->nx + dy * e->ny + dz * e->nz, row = e->half - beta;
    if (!(nx * e->nx + ny * e->ny + nz * e->nz >= e->limit) || !(row > -1) || !(row <= e->last))
        return -1;
    float ax = dx - beta * e->nx, ay = dy - beta * e->ny, az = dz - beta * e->nz;
    float alpha = sqrtf(ax * ax + ay * ay + az * az);
    return alpha <= e->last ? spin_ceil(row) * (int32_t)e->width + spin_ceil(alpha) : -1;
}

void spin_scalar(const struct spin_cloud *cloud, size_t point, uint32_t width, uint32_t *counts)
{
    const struct spin_eye eye = spin_eye_of(cloud, point, width);
    float *const *axis = cloud->axis;
    memset(counts, 0, (size_t)width * width * sizeof *counts);
    for (size_t i = 0; i < cloud->points; i++) {
        int32_t cell = spin_cell(&eye, axis[SPIN_X][i], axis[SPIN_Y][i], axis[SPIN_Z][i], axis[SPIN_NX][i],
                                 axis[SPIN_NY][i], axis[SPIN_NZ][i]);
        if (cell >= 0)
            counts[cell]++;
    }
}

/* Returns whether a point of the block may be visible. The bounds include a margin for rounding errors. */
static inline bool spin_can_see(const struct spin_eye *e, const struct spin_bound *bound)
{
    float dx = bound->x - e->x, dy = bound->y - e->y, dz = bound->z - e->z;
    float beta = dx * e->nx + dy * e->ny + dz * e->nz, row = e->half - beta;
    float ax = dx - beta * e->nx, ay = dy - beta * e->ny, az = dz - beta * e->nz;
    float alpha = sqrtf(ax * ax + ay * ay + az * az);
    float cosine = bound->nx * e->nx + bound->ny * e->ny + bound->nz * e->nz;
    float reach = bound->radius + 0.01f + 1e-4f * (alpha + fabsf(beta));
    return !(cosine < bound->least || row + reach < -1 || row - reach > e->last || alpha - reach > e->last);
}

enum { PLACES = 16 };

struct spin_block {
    _Alignas(64) float row[SPIN_BLOCK];
    _Alignas(64) float alpha[SPIN_BLOCK];
    _Alignas(64) int32_t cell[SPIN_BLOCK];
    int32_t instead[PLACES], unseen[PLACES];
};

static void spin_block_init(struct spin_block *block, uint32_t width)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        block->instead[i] = (int32_t)(i % (width * width));
        block->unseen[i] = 0;
    }
}

#if VECTORS_X86
#define LANES         8
#define VECTOR_TARGET VECTORS_AVX512
#include "deploy/examples/kernels/papers/spinimage/spin_vector.h"

#define LANES         4
#define VECTOR_TARGET VECTORS_AVX2
#include "deploy/examples/kernels/papers/spinimage/spin_vector.h"
#endif

#define LANES 2
#define VECTOR_TARGET
#include "deploy/examples/kernels/papers/spinimage/spin_vector.h"

static const struct spin_variant variants[] = {
#if VECTORS_X86
    {"avx512", vectors_have_avx512, spin_run_8},
    {"avx2", vectors_have_avx2, spin_run_4},
#endif
    {"base", vectors_anywhere, spin_run_2},
};

const struct spin_variant *spin_variants(size_t *count)
{
    *count = sizeof variants / sizeof variants[0];
    return variants;
}

const struct spin_variant *spin_best(void)
{
    const struct spin_variant *variant = variants;
    while (!variant->usable())
        variant++;
    return variant;
}
