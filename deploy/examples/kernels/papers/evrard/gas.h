/* SPDX-License-Identifier: MIT */
/* The gas of the Evrard collapse, which every worker holds completely, and the computations for one particle.
 *
 * Units: G = M = R = 1. Smoothed particle hydrodynamics with the gradient terms of Springel and Hernquist (2002) and
 * Monaghan (2002), the viscosity of Monaghan (1992), alpha 1 and beta 2, with the switch of Balsara (1995), an ideal
 * gas of gamma 5/3, and the gravity of an octree.
 *
 * A time step: gas_density() and gas_set_density() for every particle; gas_ready(); gas_push() and gas_state() for
 * every particle; gas_advance() with every result; gas_arrange(). The order of operations does not depend on which
 * worker computes what, so all workers get the same bits.
 *
 * Time: leapfrog, with velocities and energies half a step before the places (v_half). gas_state() computes v =
 * v_half + a dt/2, from which gas_advance() computes v_half + a dt = 2 v - v_half. The collapse begins half a step
 * before step 0, so the state of step n belongs to the time (n + 1/2) dt. */
#pragma once

#include "deploy/examples/kernels/papers/evrard/octree.h"

/* Parameters of the test problem. GAS_ENERGY: initial energy of a unit of mass. */
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
    double *block; /* has all arrays below; owned */
    /* Indexed by particle. */
    double *x, *y, *z;
    double *vx_half, *vy_half, *vz_half, *u_half;
    double *vx_now, *vy_now, *vz_now, *u_now; /* extrapolated to the time of the places */
    double *rho, *h, *omega, *divergence, *curl;
    /* Indexed by slot of the tree. */
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

/* These three may be called by several threads at once. */
void gas_density(const struct gas *gas, size_t particle, struct gas_density *density);
void gas_push(const struct gas *gas, size_t particle, struct gas_push *push);
void gas_state(const struct gas *gas, size_t particle, const struct gas_push *push, struct gas_state *state);

void gas_set_density(struct gas *gas, size_t particle, const struct gas_density *density);

/* gas_ready() must be called after all densities are set. gas_courant() returns the longest time step that Courant's
 * condition allows. */
void gas_ready(struct gas *gas);
double gas_courant(const struct gas *gas);

/* Takes the state of a particle and moves it. Call gas_arrange() after all particles have moved. */
void gas_advance(struct gas *gas, size_t particle, const struct gas_state *state);

/* Builds the tree. Returns -1 if a coordinate is not finite. */
int gas_arrange(struct gas *gas);
