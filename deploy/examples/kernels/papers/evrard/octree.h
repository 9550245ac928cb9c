/* SPDX-License-Identifier: MIT */
/* An octree over points of equal mass, for gravity and for finding neighbours.
 *
 * Points are sorted along the Morton curve of their bounding cube. The slot of a point is its position in that order,
 * and a cell is a range of slots. Cells are stored in depth-first order, so the first child of a cell is the next cell
 * in the array. A search that does not open a cell continues with the cell of index `skip`. Equal points make equal
 * trees, bit for bit. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A cell with more points than this is divided, unless all its points have the same key. */
#define OCTREE_LEAF 8

struct octree_cell {
    uint32_t first, count;
    uint32_t skip;
    uint32_t is_leaf;
    double low[3], high[3];
    double reach;
};

/* The mass in a cell. The order of the quadrupole's elements is xx, yy, zz, xy, xz, yz, and its trace is 0. */
struct octree_moment {
    double mass, centre[3], quadrupole[6];
    double open2; /* the cell is opened for points nearer to `centre` than the square root of this */
};

struct octree {
    size_t points, cell_count;
    double theta;
    uint32_t *order;
    uint32_t *slot;
    double *x, *y, *z;
    struct octree_cell *cells;
    struct octree_moment *moments;
    struct octree_key *keys, *spare;
};

/* Allocates a tree without cells; octree_build() makes the cells. Returns -1 if memory runs out; nothing must be freed
 * then. */
int octree_init(struct octree *tree, size_t points, double theta);
void octree_fini(struct octree *tree);

/* Builds the tree of points with these coordinates, which must be finite. `mass` is the mass of each point. */
void octree_build(struct octree *tree, const double *x, const double *y, const double *z, double mass);

void octree_set_reach(struct octree *tree, const double *reach);

struct octree_pull {
    double acceleration[3], potential;
};

/* Computes the acceleration and the potential (G = 1) that all other points cause at the point of a slot, with Plummer
 * softening. A cell counts as one body if d > s / theta + o. Here s is the side of the cell, and d the distance from
 * the point to the cell's centre of mass. o is the distance from the centre of mass to the middle of the cell's box. If
 * theta is 0, all points are added one by one. */
void octree_pull(const struct octree *tree, uint32_t slot, double softening2, struct octree_pull *pull);

static inline double octree_distance2(const struct octree_cell *cell, const double at[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double below = cell->low[k] - at[k], above = at[k] - cell->high[k];
        double off = below > above ? below : above;
        off = off > 0 ? off : 0;
        sum += off * off;
    }
    return sum;
}
