/* SPDX-License-Identifier: MIT */
/* The gas of the Evrard collapse, which every worker holds completely, and the computations for one particle.
 *
 * Units: G = M = R = 1. The method is smoothed particle hydrodynamics. The gradient terms are those of Springel and
 * Hernquist (2002) and Monaghan (2002). The viscosity is that of Monaghan (1992) with alpha 1, beta 2 and the switch of
 * Balsara (1995). The gas is ideal with gamma 5/3. Gravity is computed with an octree.
 *
 * The calls of a time step, in order: gas_density() and gas_set_density() for every particle; gas_ready(); gas_push()
 * and gas_state() for every particle; gas_advance() with every result; gas_arrange(). The order of operations does not
 * depend on which worker computes what, so all workers get the same bits.
 *
 * Time integration: leapfrog. The stored velocities (v_half) and energies belong to a time half a step before that of
 * the positions. gas_state() computes v = v_half + a dt/2. From v, gas_advance() computes the next stored velocity,
 * v_half + a dt = 2 v - v_half. The collapse begins half a step before step 0, so the state of step n belongs to the
 * time (n + 1/2) dt. */
#pragma once

#include "deploy/examples/kernels/papers/evrard/octree.h"

/* Parameters of the test problem. GAS_ENERGY is the initial internal energy per unit of mass. */
#define GAS_GAMMA  (5.0 / 3)
#define GAS_ENERGY 0.05

struct gas_config {
    size_t particles;
    double theta, time_step, neighbours, softening;
};

struct gas {
    struct gas_config config;
    double mass;
    struct octree tree;
    double *block; /* memory of all arrays below; owned */
    /* These arrays are indexed by particle. */
    double *x, *y, *z;
    double *vx_half, *vy_half, *vz_half, *u_half;
    double *vx_now, *vy_now, *vz_now, *u_now; /* velocities and energy, extrapolated to the time of the positions */
    double *rho, *h, *omega, *divergence, *curl;
    /* These arrays are indexed by slot of the tree. */
    double *vx, *vy, *vz, *u;
    double *slot_rho, *slot_h, *inverse_h, *sound, *stress, *balsara, *reach; /* stress: P / (omega rho^2) */
};

struct gas_density {
    double rho, h, omega; /* omega: 1 + (h / 3 rho) d rho / d h */
    double divergence, curl, neighbours;
};

struct gas_state {
    double velocity[3], u, potential;
};

struct gas_push {
    double acceleration[3], heating;
};

/* Makes the sphere and its tree. Returns -1 if memory runs out; nothing must be freed then. */
int gas_init(struct gas *gas, const struct gas_config *config);
void gas_fini(struct gas *gas);

/* gas_density(), gas_push() and gas_state() may be called by several threads at once. */
void gas_density(const struct gas *gas, size_t particle, struct gas_density *density);
void gas_push(const struct gas *gas, size_t particle, struct gas_push *push);
void gas_state(const struct gas *gas, size_t particle, const struct gas_push *push, struct gas_state *state);

void gas_set_density(struct gas *gas, size_t particle, const struct gas_density *density);

/* Call gas_ready() after gas_set_density() for all particles. Then gas_courant() returns the longest time step that
 * Courant's condition allows. */
void gas_ready(struct gas *gas);
double gas_courant(const struct gas *gas);

/* Takes the state of a particle and moves it. Call gas_arrange() after all particles have moved. */
void gas_advance(struct gas *gas, size_t particle, const struct gas_state *state);

/* Builds the tree. Returns -1 if a coordinate is not finite. */
int gas_arrange(struct gas *gas);
