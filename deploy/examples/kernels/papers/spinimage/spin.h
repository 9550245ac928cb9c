/* SPDX-License-Identifier: MIT */
/* Spin images. A spin image shows how an oriented point p with the normal n sees all points. Two distances of each
 * point are used. Alpha is the distance from the line through p along n. Beta is the signed distance from the plane
 * through p across n. A cell of the image counts the points with about the same alpha and beta.
 *
 * Spin images are from Johnson and Hebert, "Using spin images for efficient object recognition in cluttered 3D scenes"
 * (1999). They are computed as in the PSIA of Eleliemy, Mohammed and Ciorba (Algorithm 3 of Mohammed et al., "Two-level
 * dynamic load balancing for high performance scientific applications"). A point x counts if the angle between its
 * normal and n is at most the support angle. The row k and the column l of the cell that counts x are
 *
 *     k = ceil((W/2 - n.(x - p)) / B),  l = ceil(sqrt(|x - p|^2 - (n.(x - p))^2) / B)
 *
 * x counts only if 0 <= k < W and 0 <= l < W. Here W/2 is the length of W/2 cells; otherwise p would be in the middle
 * of the image only if B = 1. This program uses a cell as the unit of length, so B is 1.
 *
 * The arithmetic is in single precision and in one fixed order, so every variant on every machine gives the same
 * counts. The distance from the line is computed as the length of (x - p) - beta n. This is the same value as in the
 * formula, but without cancellation. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Points are processed in blocks of neighbours. A block is skipped if none of its points is visible, so some images
 * take longer than others. The last block is filled up with points that are too far away to be visible. */
#define SPIN_BLOCK     512
#define SPIN_WIDTH_MAX 1024

enum { SPIN_X, SPIN_Y, SPIN_Z, SPIN_NX, SPIN_NY, SPIN_NZ, SPIN_AXES };

/* All points of the block are within `radius` of the point (x, y, z). If the cosine of the angle between (nx, ny, nz)
 * and the normal of an image is below `least`, no normal of the block is within the support angle. */
struct spin_bound {
    float x, y, z, radius;
    float nx, ny, nz, least;
};

struct spin_cloud {
    size_t points, room;
    float *axis[SPIN_AXES]; /* axis[0] is the start of an owned array; the others point into the same array */
    size_t filled;
    /* for each point, in the order of adding: the index of the point after spin_cloud_arrange(); owned */
    size_t *place;
    struct spin_bound *bound;
    float limit;
};

int spin_cloud_init(struct spin_cloud *cloud, size_t points);
void spin_cloud_fini(struct spin_cloud *cloud);

/* Adds a point with its normal. The unit of the position is a cell. The cloud must have room. */
void spin_cloud_add(struct spin_cloud *cloud, const double position[3], const double normal[3]);

/* Sorts the points by position. Call it after all points were added. Returns -1 if memory runs out; then only
 * spin_cloud_fini() may be called. */
int spin_cloud_arrange(struct spin_cloud *cloud, double support_angle_degrees);

struct spin_variant {
    const char *name;
    bool (*usable)(void);

    /* Makes the image that a point of the cloud sees: width * width counts, row by row. */
    void (*run)(const struct spin_cloud *cloud, size_t point, uint32_t width, uint32_t *counts);
};

/* Returns the variants, those with the widest vectors first. The last variant runs on every machine. */
const struct spin_variant *spin_variants(size_t *count);

const struct spin_variant *spin_best(void);

void spin_scalar(const struct spin_cloud *cloud, size_t point, uint32_t width, uint32_t *counts);
