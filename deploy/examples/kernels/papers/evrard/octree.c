/* SPDX-License-Identifier: MIT */
/* An octree over points: see octree.h. */
#include "deploy/examples/kernels/papers/evrard/octree.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define LEVELS 21

struct octree_key {
    uint64_t code;
    uint32_t point;
};

int octree_init(struct octree *tree, size_t points, double theta)
{
    *tree = (struct octree){.points = points, .theta = theta};
    tree->order = calloc(points, sizeof *tree->order);
    tree->slot = calloc(points, sizeof *tree->slot);
    tree->x = calloc(points, 3 * sizeof *tree->x);
    /* enough, because each divided cell has at least two children */
    tree->cells = calloc(2 * points, sizeof *tree->cells);
    tree->moments = calloc(2 * points, sizeof *tree->moments);
    tree->keys = calloc(points, sizeof *tree->keys);
    tree->spare = calloc(points, sizeof *tree->spare);
    if (tree->order == NULL || tree->slot == NULL || tree->x == NULL || tree->cells == NULL || tree->moments == NULL ||
        tree->keys == NULL || tree->spare == NULL) {
        octree_fini(tree);
        return -1;
    }
    tree->y = tree->x + points;
    tree->z = tree->y + points;
    return 0;
}

void octree_fini(struct octree *tree)
{
    free(tree->order);
    free(tree->slot);
    free(tree->x);
    free(tree->cells);
    free(tree->moments);
    free(tree->keys);
    free(tree->spare);
}

static uint64_t octree_spread(uint64_t bits)
{
    bits = (bits | bits << 32) & 0x001f00000000ffff;
    bits = (bits | bits << 16) & 0x001f0000ff0000ff;
    bits = (bits | bits << 8) & 0x100f00f00f00f00f;
    bits = (bits | bits << 4) & 0x10c30c30c30c30c3;
    return (bits | bits << 2) & 0x1249249249249249;
}

static uint64_t cell_along(double place, double low, double side)
{
    const double cells = (double)(1u << LEVELS);
    double at = side > 0 ? (place - low) / side * cells : 0;
    return at < cells ? (uint64_t)at : (1u << LEVELS) - 1;
}

static void octree_make_keys(struct octree *tree, const double *const place[3])
{
    double low[3], side = 0;
    for (int k = 0; k < 3; k++) {
        double high = low[k] = place[k][0];
        for (size_t i = 1; i < tree->points; i++) {
            low[k] = place[k][i] < low[k] ? place[k][i] : low[k];
            high = place[k][i] > high ? place[k][i] : high;
        }
        side = high - low[k] > side ? high - low[k] : side;
    }
    for (size_t i = 0; i < tree->points; i++) {
        uint64_t code = 0;
        for (int k = 0; k < 3; k++)
            code |= octree_spread(cell_along(place[k][i], low[k], side)) << (2 - k);
        tree->keys[i] = (struct octree_key){code, (uint32_t)i};
    }
}

static void sort_pass(const struct octree_key *from, struct octree_key *to, size_t points, unsigned shift)
{
    size_t starts[256] = {0}, start = 0;
    for (size_t i = 0; i < points; i++)
        starts[from[i].code >> shift & 255]++;
    for (unsigned digit = 0; digit < 256; digit++) {
        size_t count = starts[digit];
        starts[digit] = start;
        start += count;
    }
    for (size_t i = 0; i < points; i++)
        to[starts[from[i].code >> shift & 255]++] = from[i];
}

static void sort_points(struct octree *tree, const double *const place[3])
{
    octree_make_keys(tree, place);
    for (unsigned shift = 0; shift < 3 * LEVELS; shift += 8) {
        struct octree_key *from = tree->keys;
        sort_pass(from, tree->spare, tree->points, shift);
        tree->keys = tree->spare;
        tree->spare = from;
    }
    for (size_t s = 0; s < tree->points; s++) {
        uint32_t point = tree->keys[s].point;
        tree->order[s] = point;
        tree->slot[point] = (uint32_t)s;
        tree->x[s] = place[0][point];
        tree->y[s] = place[1][point];
        tree->z[s] = place[2][point];
    }
}

static void add_quadrupole(double q[6], double mass, const double d[3])
{
    double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    for (int k = 0; k < 3; k++)
        q[k] += mass * (3 * d[k] * d[k] - square);
    q[3] += mass * 3 * d[0] * d[1];
    q[4] += mass * 3 * d[0] * d[2];
    q[5] += mass * 3 * d[1] * d[2];
}

static void measure_leaf(struct octree *tree, uint32_t at, double mass)
{
    struct octree_cell *cell = &tree->cells[at];
    struct octree_moment *moment = &tree->moments[at];
    const double *const place[3] = {tree->x + cell->first, tree->y + cell->first, tree->z + cell->first};
    *moment = (struct octree_moment){.mass = mass * cell->count};
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        cell->low[k] = cell->high[k] = place[k][0];
        for (uint32_t i = 0; i < cell->count; i++) {
            sum += place[k][i];
            cell->low[k] = place[k][i] < cell->low[k] ? place[k][i] : cell->low[k];
            cell->high[k] = place[k][i] > cell->high[k] ? place[k][i] : cell->high[k];
        }
        moment->centre[k] = sum / cell->count;
    }
    for (uint32_t i = 0; i < cell->count; i++) {
        double off[3];
        for (int k = 0; k < 3; k++)
            off[k] = place[k][i] - moment->centre[k];
        add_quadrupole(moment->quadrupole, mass, off);
    }
}

static void take_child(struct octree_cell *cell, struct octree_moment *moment, const struct octree_cell *child,
                       const struct octree_moment *part)
{
    for (int k = 0; k < 3; k++) {
        cell->low[k] = child->low[k] < cell->low[k] ? child->low[k] : cell->low[k];
        cell->high[k] = child->high[k] > cell->high[k] ? child->high[k] : cell->high[k];
        moment->centre[k] += part->mass * part->centre[k];
    }
    moment->mass += part->mass;
}

static void measure_divided(struct octree *tree, uint32_t at)
{
    struct octree_cell *cell = &tree->cells[at];
    struct octree_moment *moment = &tree->moments[at];
    *moment = (struct octree_moment){0};
    for (int k = 0; k < 3; k++) {
        cell->low[k] = INFINITY;
        cell->high[k] = -INFINITY;
    }
    for (uint32_t c = at + 1; c < cell->skip; c = tree->cells[c].skip)
        take_child(cell, moment, &tree->cells[c], &tree->moments[c]);
    for (int k = 0; k < 3; k++)
        moment->centre[k] /= moment->mass;
    for (uint32_t c = at + 1; c < cell->skip; c = tree->cells[c].skip) {
        const struct octree_moment *part = &tree->moments[c];
        double off[3];
        for (int k = 0; k < 3; k++)
            off[k] = part->centre[k] - moment->centre[k];
        add_quadrupole(moment->quadrupole, part->mass, off);
        for (int k = 0; k < 6; k++)
            moment->quadrupole[k] += part->quadrupole[k];
    }
}

static void set_opening(struct octree *tree, uint32_t at)
{
    const struct octree_cell *cell = &tree->cells[at];
    struct octree_moment *moment = &tree->moments[at];
    double side = 0, off2 = 0;
    for (int k = 0; k < 3; k++) {
        double off = moment->centre[k] - (cell->low[k] + cell->high[k]) / 2;
        side = cell->high[k] - cell->low[k] > side ? cell->high[k] - cell->low[k] : side;
        off2 += off * off;
    }
    double open = tree->theta > 0 ? side / tree->theta + sqrt(off2) : INFINITY;
    moment->open2 = open * open;
}

static void octree_grow(struct octree *tree, uint32_t first, uint32_t count, double mass)
{
    uint32_t at = (uint32_t)tree->cell_count++, end = first + count;
    uint64_t differing = tree->keys[first].code ^ tree->keys[end - 1].code;
    struct octree_cell *cell = &tree->cells[at];
    *cell = (struct octree_cell){.first = first, .count = count, .is_leaf = count <= OCTREE_LEAF || differing == 0};
    if (cell->is_leaf) {
        cell->skip = at + 1;
        measure_leaf(tree, at, mass);
        set_opening(tree, at);
        return;
    }
    unsigned shift = (63u - (unsigned)__builtin_clzll(differing)) / 3 * 3;
    while (first < end) {
        uint64_t octant = tree->keys[first].code >> shift;
        uint32_t last = first + 1;
        while (last < end && tree->keys[last].code >> shift == octant)
            last++;
        octree_grow(tree, first, last - first, mass);
        first = last;
    }
    cell->skip = (uint32_t)tree->cell_count;
    measure_divided(tree, at);
    set_opening(tree, at);
}

void octree_build(struct octree *tree, const double *x, const double *y, const double *z, double mass)
{
    sort_points(tree, (const double *const[]){x, y, z});
    tree->cell_count = 0;
    octree_grow(tree, 0, (uint32_t)tree->points, mass);
}

void octree_set_reach(struct octree *tree, const double *reach)
{
    for (size_t at = tree->cell_count; at-- > 0;) {
        struct octree_cell *cell = &tree->cells[at];
        cell->reach = 0;
        if (cell->is_leaf)
            for (uint32_t s = cell->first; s < cell->first + cell->count; s++)
                cell->reach = reach[s] > cell->reach ? reach[s] : cell->reach;
        else
            for (uint32_t c = (uint32_t)at + 1; c < cell->skip; c = tree->cells[c].skip)
                cell->reach = tree->cells[c].reach > cell->reach ? tree->cells[c].reach : cell->reach;
    }
}

static void pull_points(const struct octree *tree, uint32_t first, uint32_t end, const double at[3], double softening2,
                        struct octree_pull *pull)
{
    double mass = tree->moments[0].mass / (double)tree->points;
    for (uint32_t s = first; s < end; s++) {
        double dx = tree->x[s] - at[0], dy = tree->y[s] - at[1], dz = tree->z[s] - at[2];
        double near = 1 / sqrt(dx * dx + dy * dy + dz * dz + softening2);
        double weight = mass * near * near * near;
        pull->acceleration[0] += weight * dx;
        pull->acceleration[1] += weight * dy;
        pull->acceleration[2] += weight * dz;
        pull->potential -= mass * near;
    }
}

/* Adds the pull of a cell at distance d. The cell is treated as a body with a quadrupole: phi = -M/r - dQd / (2
 * r^5). */
static void pull_cell(const struct octree_moment *moment, const double d[3], double distance2, double softening2,
                      struct octree_pull *pull)
{
    const double *q = moment->quadrupole;
    double near = 1 / sqrt(distance2 + softening2), near2 = near * near, near5 = near2 * near2 * near;
    double qd[3] = {q[0] * d[0] + q[3] * d[1] + q[4] * d[2], q[3] * d[0] + q[1] * d[1] + q[5] * d[2],
                    q[4] * d[0] + q[5] * d[1] + q[2] * d[2]};
    double dqd = d[0] * qd[0] + d[1] * qd[1] + d[2] * qd[2];
    double along = moment->mass * near * near2 + 2.5 * dqd * near5 * near2;
    for (int k = 0; k < 3; k++)
        pull->acceleration[k] += along * d[k] - near5 * qd[k];
    pull->potential -= moment->mass * near + 0.5 * dqd * near5;
}

void octree_pull(const struct octree *tree, uint32_t slot, double softening2, struct octree_pull *pull)
{
    const double at[3] = {tree->x[slot], tree->y[slot], tree->z[slot]};
    *pull = (struct octree_pull){{0}};
    for (uint32_t c = 0; c < tree->cell_count;) {
        const struct octree_cell *cell = &tree->cells[c];
        const struct octree_moment *moment = &tree->moments[c];
        const double d[3] = {moment->centre[0] - at[0], moment->centre[1] - at[1], moment->centre[2] - at[2]};
        double distance2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        bool holds_it = slot - cell->first < cell->count;
        if (distance2 > moment->open2 && !holds_it) {
            pull_cell(moment, d, distance2, softening2, pull);
            c = cell->skip;
        } else if (!cell->is_leaf) {
            c++;
        } else {
            uint32_t end = cell->first + cell->count;
            pull_points(tree, cell->first, holds_it ? slot : end, at, softening2, pull);
            pull_points(tree, holds_it ? slot + 1 : end, end, at, softening2, pull);
            c = cell->skip;
        }
    }
}
