/* SPDX-License-Identifier: MIT */
/* Spin images: what the oriented point p with the normal n sees of all points, as counts over the distance from the
 * line through p along n (alpha) and the signed distance from the plane through p across n (beta).
 *
 * Johnson and Hebert, "Using spin images for efficient object recognition in cluttered 3D scenes" (1999), as the PSIA
 * of Eleliemy, Mohammed and Ciorba computes them (Algorithm 3 of Mohammed et al., "Two-level dynamic load balancing for
 * high performance scientific applications"): of each point x whose normal makes an angle of at most the support angle
 * with n,
 *
 *     k = ceil((W/2 - n.(x - p)) / B),  l = ceil(sqrt(|x - p|^2 - (n.(x - p))^2) / B)
 *
 * is the row and the column of a cell that counts one more where 0 <= k < W and 0 <= l < W. W/2 is taken as a length
 * there, that of W/2 cells: else p would be in the middle of the image for B = 1 only. Lengths are measured in cells
 * here, so that B is gone.
 *
 * The arithmetic is in single precision and in one fixed order, with the distance from the line taken as the length of
 * (x - p) - beta n, which is the same and does not cancel; so every variant on every machine gives the same counts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Points are processed in blocks of neighbouring points; a block of which nothing is visible is skipped, so some images
 * take longer than others. Padding points, too far away to be visible, fill the last block. */
#define SPIN_BLOCK     512
#define SPIN_WIDTH_MAX 1024

enum { SPIN_X, SPIN_Y, SPIN_Z, SPIN_NX, SPIN_NY, SPIN_NZ, SPIN_AXES };

/* Bounds of a block: no point is farther than the radius from `place`, and a normal whose cosine with the axis is below
 * `least` is too far from all of their normals. */
struct spin_bound {
    float x, y, z, radius;
    float nx, ny, nz, least;
};

struct spin_cloud {
    size_t points, room;    /* room: a multiple of SPIN_BLOCK */
    float *axis[SPIN_AXES]; /* the first one is owned and contains the others */
    size_t filled;
    size_t *place;            /* owned: position of each added point after spin_cloud_arrange() */
    struct spin_bound *bound; /* owned, one for each block */
    float limit;              /* least cosine between two normals */
};

/* -1 if memory runs out. */
int spin_cloud_init(struct spin_cloud *cloud, size_t points);
void spin_cloud_fini(struct spin_cloud *cloud);

/* Appends a point, in cells, and its normal; there must be room. */
void spin_cloud_add(struct spin_cloud *cloud, const double position[3], const double normal[3]);

/* Called after all points were added and before the first image: sorts them by place. -1 if memory runs out; then only
 * spin_cloud_fini() is allowed. */
int spin_cloud_arrange(struct spin_cloud *cloud, double support_angle_degrees);

struct spin_variant {
    const char *name;
    bool (*usable)(void); /* true if this machine can run the variant */

    /* The image of a point of the cloud: width * width counts, row by row. */
    void (*run)(const struct spin_cloud *cloud, size_t point, uint32_t width, uint32_t *counts);
};

/* All variants of this build, widest first; the last one runs everywhere. */
const struct spin_variant *spin_variants(size_t *count);

/* The widest variant that this machine supports. */
const struct spin_variant *spin_best(void);

/* Makes the image in plain C, point by point. */
void spin_scalar(const struct spin_cloud *cloud, size_t point, uint32_t width, uint32_t *counts);
