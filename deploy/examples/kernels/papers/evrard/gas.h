/* SPDX-License-Identifier: MIT */
/* The gas of the Evrard collapse as every worker holds it, and what is computed of one particle at a time.
 *
 * Units: G = M = R = 1. Smoothed particle hydrodynamics with the gradient terms of Springel and Hernquist (2002) and
 * Monaghan (2002), the viscosity of Monaghan (1992), alpha 1 and beta 2, with the switch of Balsara (1995), an ideal
 * gas of gamma 5/3, and the gravity of an octree.
 *
 * A time step: gas_set_density() for every particle from gas_density(), or gas_find_density() for all;
 * gas_ready(); gas_force() of every particle; gas_advance() with all its results. Everything is in an order of
 * operations that does not depend on who computes what: the same bits on every worker.
 *
 * Time: leapfrog, with velocities and energies known half a step before (v_half). The state that gas_force() yields is
 * v = v_half + a dt/2, and from it alone gas_advance() goes on: v_half + a dt = 2 v - v_half. The sphere is let go half
 * a step before step 0, so that the state of step n is that at the time (n + 1/2) dt. */
#pragma once

#include "deploy/examples/kernels/papers/evrard/octree.h"

/* Fixed by the problem: gamma, the energy of a unit of mass at the beginning. */
#define GAS_GAMMA  (5.0 / 3)
#define GAS_ENERGY 0.05

struct gas_config {
    size_t particles;
    double theta, time_step, neighbours, softening;
};

struct gas {
    struct gas_config config;
    double mass; /* of a particle */
    struct octree tree;
    double *block; /* owns all arrays that follow */
    /* by particle */
    double *x, *y, *z;
    double *vx_half, *vy_half, *vz_half, *u_half;
    double *vx_now, *vy_now, *vz_now, *u_now; /* extrapolated to the time of the places */
    double *rho, *h, *omega, *divergence, *curl;
    /* by slot of the tree */
    double *vx, *vy, *vz, *u;
    double *slot_rho, *slot_h, *inverse_h, *sound, *stress, *balsara, *reach; /* stress: P / (omega rho^2) */
};

/* Results of the density loop for a particle. */
struct gas_density {
    double rho, h, omega; /* omega: 1 + (h / 3 rho) d rho / d h */
    double divergence, curl, neighbours;
};

struct gas_state {
    double velocity[3], u, potential;
};

/* The change of velocity and energy by pressure and viscosity. */
struct gas_push {
    double acceleration[3], heating;
};

/* Creates the sphere and its tree. -1 if memory runs out; then nothing is owned. */
int gas_init(struct gas *gas, const struct gas_config *config);
void gas_fini(struct gas *gas);

/* Both loops may run on several threads. */
void gas_density(const struct gas *gas, size_t particle, struct gas_density *density);
void gas_push(const struct gas *gas, size_t particle, struct gas_push *push);
/* Adds gravity to the push of that particle. */
void gas_state(const struct gas *gas, size_t particle, const struct gas_push *push, struct gas_state *state);

void gas_set_density(struct gas *gas, size_t particle, const struct gas_density *density);

/* Called after all densities. Returns the longest time step by Courant's condition: see gas_courant(). */
void gas_ready(struct gas *gas);
double gas_courant(const struct gas *gas);

/* Takes over the state of a particle and moves it; gas_arrange() follows after all. */
void gas_advance(struct gas *gas, size_t particle, const struct gas_state *state);

/* Builds the tree. -1 if a coordinate is not finite. */
int gas_arrange(struct gas *gas);
