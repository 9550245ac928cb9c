/* SPDX-License-Identifier: MIT */
/* An octree over points of equal mass, for gravity and for the search of neighbours.
 *
 * Points are sorted along the Morton curve of their bounding cube; where one stands in that order is its slot. A cell
 * is a range of slots. Cells are stored in the order of a walk down the tree: the first child of a cell is the next
 * one, and `skip` is what follows when a cell is not opened. The same points always make the same tree, bit for bit. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Points in a cell that is not divided; more where their keys are the same. */
#define OCTREE_LEAF 8

/* The tree as the walks see it. */
struct octree_cell {
    uint32_t first, count; /* slots */
    uint32_t skip;         /* the cell that follows when this one is passed over */
    uint32_t is_leaf;
    double low[3], high[3]; /* the box of its points */
    double reach;           /* the farthest that one of its points looks: see octree_set_reach() */
};

/* A node's mass distribution. The quadrupole is traceless: xx, yy, zz, xy, xz, yz. */
struct octree_moment {
    double mass, centre[3], quadrupole[6];
    double open2; /* nearer to its centre than the root of this it is opened */
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

/* -1 if memory is out; nothing is owned then. The tree has no cells before it is built. */
int octree_init(struct octree *tree, size_t points, double theta);
void octree_fini(struct octree *tree);

/* Builds it anew, for points at these finite places with `mass` each. */
void octree_build(struct octree *tree, const double *x, const double *y, const double *z, double mass);

/* Tells each cell how far its points look; `reach` is by slot. */
void octree_set_reach(struct octree *tree, const double *reach);

struct octree_pull {
    double acceleration[3], potential;
};

/* The acceleration and potential (G = 1) at the point of a slot by all the others, softened by Plummer's rule: a cell
 * of side s whose centre of mass is at a distance d, and off the middle of its box by o, is taken as one body where d >
 * s / theta + o. With theta 0 the sum is direct. */
void octree_pull(const struct octree *tree, uint32_t slot, double softening2, struct octree_pull *pull);

/* The square of the distance of a place from the box of a cell; 0 inside. */
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
