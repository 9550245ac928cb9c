/* SPDX-License-Identifier: MIT */
/* An octree over points of equal mass, for gravity and for finding neighbours.
 *
 * Points are sorted along the Morton curve of their bounding cube; the position in that order is the slot. A cell is a
 * range of slots. Cells are stored in depth-first order: the first child follows its cell, and `skip` is the next cell
 * if a cell is not opened. Equal points make equal trees, bit for bit. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Limit of points in an undivided cell; more if their keys are equal. */
#define OCTREE_LEAF 8

/* The tree as used by walks. */
struct octree_cell {
    uint32_t first, count; /* slots */
    uint32_t skip;         /* next cell if this one is skipped */
    uint32_t is_leaf;
    double low[3], high[3]; /* the box of its points */
    double reach;           /* largest search radius of its points: see octree_set_reach() */
};

/* A node's mass distribution. The quadrupole is traceless: xx, yy, zz, xy, xz, yz. */
struct octree_moment {
    double mass, centre[3], quadrupole[6];
    double open2; /* square of the distance from the centre below which it is opened */
};

struct octree {
    size_t points, cell_count;
    double theta;
    uint32_t *order;   /* the point of a slot */
    uint32_t *slot;    /* the slot of a point */
    double *x, *y, *z; /* by slot */
    struct octree_cell *cells;
    struct octree_moment *moments;
    struct octree_key *keys, *spare;
};

/* -1 if memory runs out; then nothing is owned. The tree has no cells until octree_build(). */
int octree_init(struct octree *tree, size_t points, double theta);
void octree_fini(struct octree *tree);

/* Rebuilds it for points at these finite places, with `mass` each. */
void octree_build(struct octree *tree, const double *x, const double *y, const double *z, double mass);

/* Sets the search radii of the points, by slot. */
void octree_set_reach(struct octree *tree, const double *reach);

struct octree_pull {
    double acceleration[3], potential;
};

/* Acceleration and potential (G = 1) at the point of a slot by all others, with Plummer softening: a cell of side s,
 * with its centre of mass at distance d and offset o from the middle of its box, counts as one body if d > s / theta +
 * o. With theta 0 the sum is direct. */
void octree_pull(const struct octree *tree, uint32_t slot, double softening2, struct octree_pull *pull);

/* Square of the distance of a place from the cell's box; 0 inside. */
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
