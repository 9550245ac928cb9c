/* SPDX-License-Identifier: MIT */
/* The state of the gas, and how it develops: see gas.h. */
#include "deploy/examples/kernels/papers/evrard/gas.h"

#include "deploy/examples/kernels/papers/evrard/root.h"
#include "deploy/examples/kernels/papers/evrard/sphere.h"
#include "deploy/examples/kernels/papers/evrard/spline.h"

#include <math.h>
#include <stdlib.h>

/* Near the middle, the first guess of a smoothing length uses the density at this distance from the middle. */
#define PROFILE_LEAST 0.02
#define PI            3.14159265358979324

static int gas_allocate(struct gas *gas)
{
    size_t particles = gas->config.particles;
    double **const arrays[] = {
        &gas->x,          &gas->y,         &gas->z,      &gas->vx_half, &gas->vy_half, &gas->vz_half, &gas->u_half,
        &gas->vx_now,     &gas->vy_now,    &gas->vz_now, &gas->u_now,   &gas->rho,     &gas->h,       &gas->omega,
        &gas->divergence, &gas->curl,      &gas->vx,     &gas->vy,      &gas->vz,      &gas->u,       &gas->slot_rho,
        &gas->slot_h,     &gas->inverse_h, &gas->sound,  &gas->stress,  &gas->balsara, &gas->reach};
    const size_t count = sizeof arrays / sizeof *arrays;
    gas->block = calloc(particles, count * sizeof *gas->block);
    if (gas->block == NULL)
        return -1;
    for (size_t a = 0; a < count; a++)
        *arrays[a] = gas->block + a * particles;
    if (octree_init(&gas->tree, particles, gas->config.theta) == 0)
        return 0;
    free(gas->block);
    gas->block = NULL;
    return -1;
}

/* Guesses the smoothing length h of a particle at distance r. In the initial state the density at r is M / (2 pi r),
 * and h^3 rho / m is the same for all particles. The density loop corrects the guess. */
static double guess_h(double r, double particles, double neighbours)
{
    double rho = 1 / (2 * PI * (r > PROFILE_LEAST ? r : PROFILE_LEAST));
    return cube_root(3 * neighbours / (4 * PI * 8) / (particles * rho));
}

int gas_init(struct gas *gas, const struct gas_config *config)
{
    *gas = (struct gas){.config = *config, .mass = 1 / (double)config->particles};
    if (gas_allocate(gas) < 0)
        return -1;
    if (sphere_fill(config->particles, gas->x, gas->y, gas->z) < 0) {
        gas_fini(gas);
        return -1;
    }
    for (size_t i = 0; i < config->particles; i++) {
        double r = sqrt(gas->x[i] * gas->x[i] + gas->y[i] * gas->y[i] + gas->z[i] * gas->z[i]);
        gas->h[i] = guess_h(r, (double)config->particles, config->neighbours);
        gas->u_half[i] = gas->u_now[i] = GAS_ENERGY;
    }
    return gas_arrange(gas);
}

void gas_fini(struct gas *gas)
{
    octree_fini(&gas->tree);
    free(gas->block);
}

void gas_set_density(struct gas *gas, size_t particle, const struct gas_density *density)
{
    gas->rho[particle] = density->rho;
    gas->h[particle] = density->h;
    gas->omega[particle] = density->omega;
    gas->divergence[particle] = density->divergence;
    gas->curl[particle] = density->curl;
}

void gas_ready(struct gas *gas)
{
    for (size_t s = 0; s < gas->config.particles; s++) {
        uint32_t i = gas->tree.order[s];
        double rho = gas->rho[i], h = gas->h[i], bulk = fabs(gas->divergence[i]);
        gas->sound[s] = sqrt(GAS_GAMMA * (GAS_GAMMA - 1) * gas->u[s]);
        gas->stress[s] = (GAS_GAMMA - 1) * gas->u[s] / (gas->omega[i] * rho);
        gas->balsara[s] = bulk / (bulk + gas->curl[i] + 1e-4 * gas->sound[s] / h);
        gas->slot_rho[s] = rho;
        gas->slot_h[s] = h;
        gas->inverse_h[s] = 1 / h;
        gas->reach[s] = SPLINE_REACH * h;
    }
    octree_set_reach(&gas->tree, gas->reach);
}

/* Monaghan (1992), equation 10.3. The compression of the gas replaces the relative speed of two particles in this
 * equation. */
double gas_courant(const struct gas *gas)
{
    double least = INFINITY;
    for (size_t s = 0; s < gas->config.particles; s++) {
        double divergence = gas->divergence[gas->tree.order[s]], h = gas->slot_h[s];
        double pressing = divergence < 0 ? -divergence * h : 0;
        double step = h / (gas->sound[s] + 1.2 * (gas->sound[s] + 2 * pressing));
        least = step < least ? step : least;
    }
    return least;
}

void gas_state(const struct gas *gas, size_t particle, const struct gas_push *push, struct gas_state *state)
{
    double half = gas->config.time_step / 2;
    struct octree_pull pull;
    octree_pull(&gas->tree, gas->tree.slot[particle], gas->config.softening * gas->config.softening, &pull);
    *state = (struct gas_state){
        .velocity = {gas->vx_half[particle], gas->vy_half[particle], gas->vz_half[particle]},
        .u = gas->u_half[particle] + half * push->heating,
        .potential = pull.potential,
    };
    for (int k = 0; k < 3; k++)
        state->velocity[k] += half * (push->acceleration[k] + pull.acceleration[k]);
}

static void gas_advance_particles(double *place, double *half, double *now, double known, double time_step)
{
    *half = 2 * known - *half;
    *now = 2 * *half - known;
    *place += time_step * *half;
}

void gas_advance(struct gas *gas, size_t particle, const struct gas_state *state)
{
    const size_t i = particle;
    double dt = gas->config.time_step;
    gas_advance_particles(&gas->x[i], &gas->vx_half[i], &gas->vx_now[i], state->velocity[0], dt);
    gas_advance_particles(&gas->y[i], &gas->vy_half[i], &gas->vy_now[i], state->velocity[1], dt);
    gas_advance_particles(&gas->z[i], &gas->vz_half[i], &gas->vz_now[i], state->velocity[2], dt);
    double next = 2 * state->u - gas->u_half[i];
    gas->u_half[i] = next > state->u / 2 ? next : state->u / 2; /* the lower bound keeps the energy positive */
    gas->u_now[i] = 2 * gas->u_half[i] - state->u;
    if (!(gas->u_now[i] > gas->u_half[i] / 2))
        gas->u_now[i] = gas->u_half[i] / 2;
}

int gas_arrange(struct gas *gas)
{
    for (size_t i = 0; i < gas->config.particles; i++)
        if (!isfinite(gas->x[i]) || !isfinite(gas->y[i]) || !isfinite(gas->z[i]))
            return -1;
    octree_build(&gas->tree, gas->x, gas->y, gas->z, gas->mass);
    for (size_t s = 0; s < gas->config.particles; s++) {
        uint32_t i = gas->tree.order[s];
        gas->vx[s] = gas->vx_now[i];
        gas->vy[s] = gas->vy_now[i];
        gas->vz[s] = gas->vz_now[i];
        gas->u[s] = gas->u_now[i];
    }
    return 0;
}
