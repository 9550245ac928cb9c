/* SPDX-License-Identifier: MIT */
/* The loops of smoothed particle hydrodynamics, one particle at a time: see gas.h. */
#include "deploy/examples/kernels/papers/evrard/gas.h"

#include "deploy/examples/kernels/papers/evrard/spline.h"

#include <math.h>
#include <stdbool.h>

/* Largest number of particles that are gathered around a particle. Normally there are far fewer. If there are more, the
 * smoothing length is reduced. */
#define NEAR_MAX 1024
/* Particles are gathered from a larger region than h needs, so that a somewhat larger h needs no second search. */
#define GATHER_MARGIN 1.1
#define H_TOLERANCE   1e-9
/* Smallest h. Particles at the same position would have h = 0. */
#define H_LEAST     1e-6
#define OMEGA_LEAST 0.01
#define H_TRIES     200
#define PI          3.14159265358979324

struct near {
    double radius;
    unsigned count;
    bool overflow;
    double distance[NEAR_MAX];
    uint32_t slot[NEAR_MAX];
};

static void gather_leaf(const struct octree *tree, const struct octree_cell *cell, const double at[3],
                        struct near *near)
{
    double radius2 = near->radius * near->radius;
    for (uint32_t s = cell->first; s < cell->first + cell->count; s++) {
        double dx = tree->x[s] - at[0], dy = tree->y[s] - at[1], dz = tree->z[s] - at[2];
        double distance2 = dx * dx + dy * dy + dz * dz;
        if (near->count == NEAR_MAX) {
            near->overflow = true;
            return;
        }
        near->distance[near->count] = distance2;
        near->slot[near->count] = s;
        near->count += distance2 < radius2;
    }
}

static void sph_gather(const struct octree *tree, uint32_t slot, double radius, struct near *near)
{
    const double at[3] = {tree->x[slot], tree->y[slot], tree->z[slot]};
    near->radius = radius;
    near->count = 0;
    near->overflow = false;
    for (uint32_t c = 0; c < tree->cell_count && !near->overflow;) {
        const struct octree_cell *cell = &tree->cells[c];
        bool in = octree_distance2(cell, at) < radius * radius;
        if (in && cell->is_leaf)
            gather_leaf(tree, cell, at, near);
        c = in && !cell->is_leaf ? c + 1 : cell->skip;
    }
    for (unsigned k = 0; k < near->count; k++)
        near->distance[k] = sqrt(near->distance[k]);
}

/* `sum` is the sum of spline(q) over all neighbours, and `slope` the sum of -q spline'(q). */
struct weight {
    double sum, slope;
};

static struct weight sph_weigh(const struct near *near, double h)
{
    struct weight weight = {0, 0};
    double inverse = 1 / h;
    for (unsigned k = 0; k < near->count; k++) {
        double q = near->distance[k] * inverse;
        weight.sum += spline(q);
        weight.slope -= q * spline_slope(q);
    }
    return weight;
}

/* Bounds of the wanted h. After each try one bound is moved to the tried h. h^3 rho / m grows with h, so its value
 * shows which bound. */
struct bracket {
    double low, high;
};

static double next_guess(struct bracket *bracket, double h, const struct weight *weight, double wanted)
{
    if (weight->sum > wanted)
        bracket->high = h;
    else
        bracket->low = h;
    double next = weight->slope > 0 ? h - h * (weight->sum - wanted) / weight->slope : INFINITY;
    next = next < 1.3 * h ? next : 1.3 * h;
    next = next > 0.7 * h ? next : 0.7 * h;
    bool in = next >= bracket->low && next <= bracket->high;
    return in ? next : (bracket->low + bracket->high) / 2;
}

/* Finds the smoothing length h of a particle. A sphere of radius 2 h with the density at the particle must have the
 * mass of the wanted number of neighbours. */
static double find_h(const struct gas *gas, uint32_t slot, struct near *near, struct weight *weight)
{
    double wanted = 3 * gas->config.neighbours / (4 * PI * SPLINE_REACH * SPLINE_REACH * SPLINE_REACH);
    double h = gas->h[gas->tree.order[slot]];
    struct bracket bracket = {H_LEAST, INFINITY};
    sph_gather(&gas->tree, slot, SPLINE_REACH * GATHER_MARGIN * h, near);
    for (int tries = 0;; tries++) {
        if (near->radius < SPLINE_REACH * h)
            sph_gather(&gas->tree, slot, SPLINE_REACH * GATHER_MARGIN * h, near);
        *weight = sph_weigh(near, h);
        if (near->overflow && tries < H_TRIES) {
            bracket.high = h;
            h = h / 2 > bracket.low ? h / 2 : (h + bracket.low) / 2;
            near->radius = 0;
            continue;
        }
        double next = next_guess(&bracket, h, weight, wanted);
        if (fabs(next - h) <= H_TOLERANCE * h || tries >= H_TRIES)
            return h;
        h = next;
    }
}

static void find_flow(const struct gas *gas, uint32_t slot, const struct near *near, struct gas_density *density)
{
    const struct octree *tree = &gas->tree;
    double h = density->h, inverse = 1 / h, scale = gas->mass / (density->rho * h * h * h * h);
    double spread = 0, turn[3] = {0, 0, 0};
    for (unsigned k = 0; k < near->count; k++) {
        uint32_t s = near->slot[k];
        double distance = near->distance[k], q = distance * inverse;
        if (s == slot || q >= SPLINE_REACH)
            continue;
        density->neighbours++;
        double slope = distance > 0 ? scale * spline_slope(q) / distance : 0;
        double dx = tree->x[slot] - tree->x[s], dy = tree->y[slot] - tree->y[s], dz = tree->z[slot] - tree->z[s];
        double vx = gas->vx[slot] - gas->vx[s], vy = gas->vy[slot] - gas->vy[s], vz = gas->vz[slot] - gas->vz[s];
        spread -= slope * (vx * dx + vy * dy + vz * dz);
        turn[0] += slope * (vy * dz - vz * dy);
        turn[1] += slope * (vz * dx - vx * dz);
        turn[2] += slope * (vx * dy - vy * dx);
    }
    density->divergence = spread;
    density->curl = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
}

void gas_density(const struct gas *gas, size_t particle, struct gas_density *density)
{
    uint32_t slot = gas->tree.slot[particle];
    struct near near;
    struct weight weight;
    double h = find_h(gas, slot, &near, &weight);
    double omega = weight.slope / (3 * weight.sum);
    *density = (struct gas_density){
        .rho = gas->mass * weight.sum / (h * h * h), .h = h, .omega = omega > OMEGA_LEAST ? omega : OMEGA_LEAST};
    find_flow(gas, slot, &near, density);
}

#define ALPHA 1.0
#define BETA  2.0

static inline double slope_at(double distance, double inverse_h)
{
    double square = inverse_h * inverse_h;
    return spline_slope(distance * inverse_h) * square * square;
}

/* The viscous pressure of Monaghan (1992) between two particles that approach each other. `nearing` is the scalar
 * product of their distance vector and their relative velocity; it is negative. */
static inline double viscosity(const struct gas *gas, uint32_t i, uint32_t j, double nearing, double distance2)
{
    double h = (gas->slot_h[i] + gas->slot_h[j]) / 2, rho = (gas->slot_rho[i] + gas->slot_rho[j]) / 2;
    double sound = (gas->sound[i] + gas->sound[j]) / 2, balsara = (gas->balsara[i] + gas->balsara[j]) / 2;
    double mu = h * nearing / (distance2 + 0.01 * h * h);
    return balsara * mu * (BETA * mu - ALPHA * sound) / rho;
}

static inline void push_by(const struct gas *gas, uint32_t i, uint32_t j, struct gas_push *push)
{
    const struct octree *tree = &gas->tree;
    double dx = tree->x[i] - tree->x[j], dy = tree->y[i] - tree->y[j], dz = tree->z[i] - tree->z[j];
    double distance2 = dx * dx + dy * dy + dz * dz;
    double reach = gas->reach[i] > gas->reach[j] ? gas->reach[i] : gas->reach[j];
    if (distance2 >= reach * reach || i == j || distance2 == 0)
        return;
    double distance = sqrt(distance2), inverse = 1 / distance;
    double own = slope_at(distance, gas->inverse_h[i]) * inverse;
    double other = slope_at(distance, gas->inverse_h[j]) * inverse;
    double nearing = dx * (gas->vx[i] - gas->vx[j]) + dy * (gas->vy[i] - gas->vy[j]) + dz * (gas->vz[i] - gas->vz[j]);
    double viscous = nearing < 0 ? viscosity(gas, i, j, nearing, distance2) * (own + other) / 2 : 0;
    double all = gas->mass * (gas->stress[i] * own + gas->stress[j] * other + viscous);
    push->acceleration[0] -= all * dx;
    push->acceleration[1] -= all * dy;
    push->acceleration[2] -= all * dz;
    push->heating += gas->mass * nearing * (gas->stress[i] * own + viscous / 2);
}

void gas_push(const struct gas *gas, size_t particle, struct gas_push *push)
{
    const struct octree *tree = &gas->tree;
    uint32_t slot = tree->slot[particle];
    const double at[3] = {tree->x[slot], tree->y[slot], tree->z[slot]};
    *push = (struct gas_push){{0}};
    for (uint32_t c = 0; c < tree->cell_count;) {
        const struct octree_cell *cell = &tree->cells[c];
        double reach = cell->reach > gas->reach[slot] ? cell->reach : gas->reach[slot];
        bool in = octree_distance2(cell, at) < reach * reach;
        if (in && cell->is_leaf)
            for (uint32_t s = cell->first; s < cell->first + cell->count; s++)
                push_by(gas, slot, s, push);
        c = in && !cell->is_leaf ? c + 1 : cell->skip;
    }
}
