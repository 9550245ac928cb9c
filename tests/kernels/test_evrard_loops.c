/* SPDX-License-Identifier: MIT */
/* The loops of the gas sphere against sums over all pairs, straight from the definitions: gravity, density, neighbours,
 * pressure and viscosity; what these must conserve; the sphere against its profile. */
#include "common/util/random.h"
#include "deploy/examples/kernels/papers/evrard/gas.h"
#include "deploy/examples/kernels/papers/evrard/octree.h"
#include "deploy/examples/kernels/papers/evrard/sphere.h"
#include "tests/lib/suite.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define PI 3.14159265358979324

static const struct gas_config config = {
    .particles = 700, .theta = 0.5, .time_step = 0.01, .neighbours = 58, .softening = 0.03};

/* A gas in the middle of something: irregular places, velocities and energies, with its densities known. */
static void stir(struct gas *gas)
{
    struct random random;
    ck_assert_int_eq(gas_init(gas, &config), 0);
    random_init(&random, 7);
    for (size_t i = 0; i < config.particles; i++) {
        double *const numbers[] = {&gas->x[i],      &gas->y[i],      &gas->z[i],
                                   &gas->vx_now[i], &gas->vy_now[i], &gas->vz_now[i]};
        for (int k = 0; k < 6; k++)
            *numbers[k] += 0.1 * (random_uniform(&random) - 0.5);
        gas->vx_now[i] -= gas->x[i];
        gas->u_now[i] = 0.2 + random_uniform(&random);
    }
    ck_assert_int_eq(gas_arrange(gas), 0);
    for (size_t i = 0; i < config.particles; i++) {
        struct gas_density density;
        gas_density(gas, i, &density);
        gas_set_density(gas, i, &density);
    }
    gas_ready(gas);
}

/* --- the sphere --- */

START_TEST(the_sphere_has_the_profile)
{
    enum { COUNT = 5000 };
    static double place[3][COUNT];
    size_t within[4] = {0};
    ck_assert_int_eq(sphere_fill(COUNT, place[0], place[1], place[2]), 0);
    for (size_t i = 0; i < COUNT; i++) {
        double r = sqrt(place[0][i] * place[0][i] + place[1][i] * place[1][i] + place[2][i] * place[2][i]);
        ck_assert_double_lt(r, 1.03);
        for (int k = 0; k < 4; k++)
            within[k] += r < 0.25 * (k + 1);
    }
    for (int k = 0; k < 3; k++) /* M(r) = r^2 */
        ck_assert_double_eq_tol((double)within[k] / COUNT, 0.0625 * (k + 1) * (k + 1), 0.01);
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        for (size_t i = 0; i < COUNT; i++)
            sum += place[k][i];
        ck_assert_double_lt(fabs(sum), 1e-10);
    }
}
END_TEST

START_TEST(a_sphere_has_as_many_particles_as_it_should)
{
    double place[3][260];
    for (size_t count = 100; count < 260; count += 23) {
        for (int k = 0; k < 3; k++)
            for (size_t i = 0; i < 260; i++)
                place[k][i] = 77;
        ck_assert_int_eq(sphere_fill(count, place[0], place[1], place[2]), 0);
        for (size_t i = 0; i < 260; i++)
            ck_assert_int_eq(place[0][i] < 2, i < count);
    }
}
END_TEST

/* --- gravity --- */

static void pull_directly(const struct gas *gas, size_t i, struct octree_pull *pull)
{
    double softening2 = config.softening * config.softening;
    *pull = (struct octree_pull){{0}};
    for (size_t j = 0; j < config.particles; j++) {
        double d[3] = {gas->x[j] - gas->x[i], gas->y[j] - gas->y[i], gas->z[j] - gas->z[i]};
        double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening2);
        for (int k = 0; k < 3 && j != i; k++)
            pull->acceleration[k] += gas->mass * d[k] / pow(r, 3);
        pull->potential -= j != i ? gas->mass / r : 0;
    }
}

/* The root of the mean square error of the acceleration in parts of its mean square; the largest of the potential. */
static void measure_gravity(double theta, double *acceleration, double *potential)
{
    struct gas gas;
    double error = 0, square = 0;
    stir(&gas);
    gas.tree.theta = theta;
    ck_assert_int_eq(gas_arrange(&gas), 0);
    *potential = 0;
    for (size_t i = 0; i < config.particles; i++) {
        struct octree_pull direct, pull;
        pull_directly(&gas, i, &direct);
        octree_pull(&gas.tree, gas.tree.slot[i], config.softening * config.softening, &pull);
        for (int k = 0; k < 3; k++) {
            error += pow(pull.acceleration[k] - direct.acceleration[k], 2);
            square += pow(direct.acceleration[k], 2);
        }
        *potential = fmax(*potential, fabs(pull.potential / direct.potential - 1));
    }
    *acceleration = sqrt(error / square);
    gas_fini(&gas);
}

START_TEST(gravity_nears_the_direct_sum_as_theta_shrinks)
{
    const double thetas[] = {1.2, 0.8, 0.5, 0.3}, accepted[] = {5e-2, 1.5e-2, 3e-3, 5e-4};
    double before = 1;
    for (int k = 0; k < 4; k++) {
        double acceleration, potential;
        measure_gravity(thetas[k], &acceleration, &potential);
        ck_assert_msg(acceleration < accepted[k], "%g %g", thetas[k], acceleration);
        ck_assert_double_lt(potential, accepted[k]);
        ck_assert_double_lt(acceleration, before / 2);
        before = acceleration;
    }
}
END_TEST

START_TEST(gravity_with_theta_0_is_the_direct_sum)
{
    double acceleration, potential;
    measure_gravity(0, &acceleration, &potential);
    ck_assert_double_lt(acceleration, 1e-13);
    ck_assert_double_lt(potential, 1e-13);
}
END_TEST

START_TEST(a_tree_holds_every_point_once)
{
    struct gas gas;
    stir(&gas);
    uint32_t next = 0;
    for (uint32_t c = 0; c < gas.tree.cell_count; c++) {
        const struct octree_cell *cell = &gas.tree.cells[c];
        ck_assert_uint_gt(cell->count, 0);
        ck_assert(cell->skip > c && cell->skip <= gas.tree.cell_count);
        if (!cell->is_leaf)
            continue;
        ck_assert_uint_eq(cell->first, next);
        next += cell->count;
    }
    ck_assert_uint_eq(next, config.particles);
    for (uint32_t s = 0; s < next; s++)
        ck_assert_uint_eq(gas.tree.slot[gas.tree.order[s]], s);
    ck_assert_double_eq_tol(gas.tree.moments[0].mass, 1, 1e-12);
    gas_fini(&gas);
}
END_TEST

/* Nothing divides by their distance, and the tree ends. */
START_TEST(particles_may_be_at_the_same_place)
{
    struct gas gas;
    struct gas_density density;
    struct gas_push push;
    struct octree_pull pull;
    stir(&gas);
    for (size_t i = 0; i < config.particles / 2; i++)
        gas.x[i] = gas.y[i] = gas.z[i] = 0.1;
    ck_assert_int_eq(gas_arrange(&gas), 0);
    for (size_t i = 0; i < config.particles; i++) {
        gas_density(&gas, i, &density);
        ck_assert(isfinite(density.rho) && isfinite(density.h) && isfinite(density.omega) && isfinite(density.curl));
        gas_set_density(&gas, i, &density);
    }
    gas_ready(&gas);
    for (size_t i = 0; i < config.particles; i++) {
        gas_push(&gas, i, &push);
        octree_pull(&gas.tree, gas.tree.slot[i], 1e-4, &pull);
        ck_assert(isfinite(push.heating) && isfinite(push.acceleration[0]) && isfinite(pull.acceleration[0]));
    }
    gas_fini(&gas);
}
END_TEST

/* --- density --- */

/* The cubic spline and its derivatives by r and h, from the formula. */
static double kernel(double r, double h)
{
    double q = r / h;
    return q < 1   ? (1 - 1.5 * q * q + 0.75 * q * q * q) / (PI * h * h * h)
           : q < 2 ? 0.25 * pow(2 - q, 3) / (PI * h * h * h)
                   : 0;
}

static double kernel_by_r(double r, double h)
{
    double q = r / h;
    return (q < 1 ? -3 * q + 2.25 * q * q : q < 2 ? -0.75 * (2 - q) * (2 - q) : 0) / (PI * h * h * h * h);
}

static double distance(const struct gas *gas, size_t i, size_t j)
{
    return sqrt(pow(gas->x[i] - gas->x[j], 2) + pow(gas->y[i] - gas->y[j], 2) + pow(gas->z[i] - gas->z[j], 2));
}

static double density_directly(const struct gas *gas, size_t i, double h)
{
    double sum = 0;
    for (size_t j = 0; j < config.particles; j++)
        sum += gas->mass * kernel(distance(gas, i, j), h);
    return sum;
}

START_TEST(density_is_the_direct_sum)
{
    struct gas gas;
    stir(&gas);
    for (size_t i = 0; i < config.particles; i++) {
        struct gas_density density;
        gas_density(&gas, i, &density);
        double h = density.h, change = 1e-5 * h;
        double slope = (density_directly(&gas, i, h + change) - density_directly(&gas, i, h - change)) / (2 * change);
        ck_assert_double_eq_tol(density.rho, density_directly(&gas, i, h), 1e-12 * density.rho);
        ck_assert_double_eq_tol(density.omega, 1 + h / (3 * density.rho) * slope, 1e-7);
        /* so many neighbours at that density in a sphere of 2 h */
        ck_assert_double_eq_tol(4 * PI / 3 * 8 * h * h * h * density.rho / gas.mass, config.neighbours, 1e-6);
    }
    gas_fini(&gas);
}
END_TEST

START_TEST(neighbours_are_those_of_a_look_at_all)
{
    struct gas gas;
    stir(&gas);
    for (size_t i = 0; i < config.particles; i++) {
        struct gas_density density;
        unsigned neighbours = 0;
        gas_density(&gas, i, &density);
        for (size_t j = 0; j < config.particles; j++)
            neighbours += j != i && distance(&gas, i, j) < 2 * density.h;
        ck_assert_uint_eq((unsigned)density.neighbours, neighbours);
    }
    gas_fini(&gas);
}
END_TEST

/* Wherever the search begins it ends at the same length: that of the step before is only a guess. */
START_TEST(the_first_guess_of_a_length_does_not_matter)
{
    struct gas gas;
    stir(&gas);
    for (size_t i = 0; i < config.particles; i += 7) {
        struct gas_density density;
        double h = gas.h[i];
        for (double guess = h / 50; guess < 60 * h; guess *= 5) {
            gas.h[i] = guess;
            gas_density(&gas, i, &density);
            ck_assert_double_eq_tol(density.h, h, 1e-8 * h);
        }
        gas.h[i] = h;
    }
    gas_fini(&gas);
}
END_TEST

/* Of a flow that widens evenly while it turns about z: a lattice is not in the way of either. */
START_TEST(divergence_and_curl_are_those_of_the_flow)
{
    struct gas gas;
    struct gas_density density;
    struct gas_config many = config;
    many.particles = 4000;
    ck_assert_int_eq(gas_init(&gas, &many), 0);
    for (size_t i = 0; i < many.particles; i++) {
        gas.vx_now[i] = 2 * gas.x[i] - 3 * gas.y[i];
        gas.vy_now[i] = 2 * gas.y[i] + 3 * gas.x[i];
        gas.vz_now[i] = 2 * gas.z[i];
    }
    ck_assert_int_eq(gas_arrange(&gas), 0);
    for (size_t i = 0; i < many.particles; i++) {
        double r = sqrt(gas.x[i] * gas.x[i] + gas.y[i] * gas.y[i] + gas.z[i] * gas.z[i]);
        if (r < 0.2 || r > 0.6)
            continue;
        gas_density(&gas, i, &density);
        ck_assert_double_eq_tol(density.divergence, 6, 0.6);
        ck_assert_double_eq_tol(density.curl, 6, 0.6);
    }
    gas_fini(&gas);
}
END_TEST

/* --- momentum and energy --- */

static double sound(const struct gas *gas, size_t i)
{
    return sqrt(GAS_GAMMA * (GAS_GAMMA - 1) * gas->u_now[i]);
}

static double balsara(const struct gas *gas, size_t i)
{
    double bulk = fabs(gas->divergence[i]);
    return bulk / (bulk + gas->curl[i] + 1e-4 * sound(gas, i) / gas->h[i]);
}

static double viscosity_directly(const struct gas *gas, size_t i, size_t j, double nearing)
{
    double r = distance(gas, i, j), h = (gas->h[i] + gas->h[j]) / 2;
    double mu = nearing < 0 ? h * nearing / (r * r + 0.01 * h * h) : 0;
    double pressure = -(sound(gas, i) + sound(gas, j)) / 2 * mu + 2 * mu * mu;
    return pressure / ((gas->rho[i] + gas->rho[j]) / 2) * (balsara(gas, i) + balsara(gas, j)) / 2;
}

static void push_directly(const struct gas *gas, size_t i, struct gas_push *push)
{
    *push = (struct gas_push){{0}};
    for (size_t j = 0; j < config.particles; j++) {
        if (j == i)
            continue;
        double r = distance(gas, i, j);
        double d[3] = {gas->x[i] - gas->x[j], gas->y[i] - gas->y[j], gas->z[i] - gas->z[j]};
        double nearing = d[0] * (gas->vx_now[i] - gas->vx_now[j]) + d[1] * (gas->vy_now[i] - gas->vy_now[j]) +
                         d[2] * (gas->vz_now[i] - gas->vz_now[j]);
        double own = kernel_by_r(r, gas->h[i]) / r, other = kernel_by_r(r, gas->h[j]) / r;
        double pressure_i = (GAS_GAMMA - 1) * gas->u_now[i] / gas->rho[i] / gas->omega[i];
        double pressure_j = (GAS_GAMMA - 1) * gas->u_now[j] / gas->rho[j] / gas->omega[j];
        double viscous = viscosity_directly(gas, i, j, nearing) * (own + other) / 2;
        for (int k = 0; k < 3; k++)
            push->acceleration[k] -= gas->mass * (pressure_i * own + pressure_j * other + viscous) * d[k];
        push->heating += gas->mass * (pressure_i * own + viscous / 2) * nearing;
    }
}

START_TEST(pressure_and_viscosity_are_the_direct_sums)
{
    struct gas gas;
    stir(&gas);
    for (size_t i = 0; i < config.particles; i++) {
        struct gas_push push, direct;
        gas_push(&gas, i, &push);
        push_directly(&gas, i, &direct);
        double scale = 1e-11 * (1 + fabs(direct.acceleration[0]) + fabs(direct.acceleration[1]) +
                                fabs(direct.acceleration[2]) + fabs(direct.heating));
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq_tol(push.acceleration[k], direct.acceleration[k], scale);
        ck_assert_double_eq_tol(push.heating, direct.heating, scale);
    }
    gas_fini(&gas);
}
END_TEST

START_TEST(pressure_and_viscosity_conserve_momentum_and_energy)
{
    struct gas gas;
    double momentum[3] = {0}, force = 0, energy = 0, work = 0;
    stir(&gas);
    for (size_t i = 0; i < config.particles; i++) {
        struct gas_push push;
        const double velocity[3] = {gas.vx_now[i], gas.vy_now[i], gas.vz_now[i]};
        gas_push(&gas, i, &push);
        for (int k = 0; k < 3; k++) {
            momentum[k] += push.acceleration[k];
            force += fabs(push.acceleration[k]);
            energy += velocity[k] * push.acceleration[k];
        }
        energy += push.heating;
        work += fabs(push.heating);
    }
    for (int k = 0; k < 3; k++)
        ck_assert_double_lt(fabs(momentum[k]), 1e-12 * force);
    ck_assert_double_lt(fabs(energy), 1e-12 * work);
    gas_fini(&gas);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("evrard-loops");
    TCase *tcase = tcase_create("evrard-loops");
    tcase_add_test(tcase, the_sphere_has_the_profile);
    tcase_add_test(tcase, a_sphere_has_as_many_particles_as_it_should);
    tcase_add_test(tcase, gravity_nears_the_direct_sum_as_theta_shrinks);
    tcase_add_test(tcase, gravity_with_theta_0_is_the_direct_sum);
    tcase_add_test(tcase, a_tree_holds_every_point_once);
    tcase_add_test(tcase, particles_may_be_at_the_same_place);
    tcase_add_test(tcase, density_is_the_direct_sum);
    tcase_add_test(tcase, neighbours_are_those_of_a_look_at_all);
    tcase_add_test(tcase, the_first_guess_of_a_length_does_not_matter);
    tcase_add_test(tcase, divergence_and_curl_are_those_of_the_flow);
    tcase_add_test(tcase, pressure_and_viscosity_are_the_direct_sums);
    tcase_add_test(tcase, pressure_and_viscosity_conserve_momentum_and_energy);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
