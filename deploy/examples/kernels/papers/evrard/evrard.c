/* SPDX-License-Identifier: MIT */
/* The Evrard collapse, a test problem for SPH codes: a cold sphere of gas collapses by its own gravity, bounces and
 * comes to rest. Every worker holds the whole gas (gas.h), and advances it with the results of each step. An iteration
 * is one particle.
 *
 * A time step is two loops: one for the densities, then one for momentum, energy and gravity. If only gravity is
 * scheduled, there is only the second loop. It computes gravity, and every worker computes everything else itself. Both
 * ways give the same states, bit for bit. The cost of an iteration depends on the depth of the tree, and on the density
 * around the particle. That density grows in the middle of the sphere during the collapse.
 *
 * end_time= is divided into steps= equal steps. Measurements of the collapse give the longest possible time step; a
 * longer step is refused before the run. If a step turns out too long during the run, the run ends. */
#include "deploy/examples/kernels/papers/evrard/gas.h"
#include "deploy/examples/kernels/papers/evrard/record.h"
#include "deploy/examples/kernels/papers/evrard/root.h"
#include "hdss/kernel.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum param { PARTICLES, STEPS, END_TIME, THETA, NEIGHBOURS, SOFTENING, SCHEDULED };
enum scheduled { SCHEDULED_ALL, SCHEDULED_GRAVITY };

#define NEIGHBOURS_DEFAULT 58
#define TEXT_(number)      #number
#define TEXT(number)       TEXT_(number)
#define PARTICLES_MAX      1e6
#define STEPS_MAX          1e6
#define END_TIME_MAX       100

static const struct hdss_param params[] = {
    [PARTICLES] = {"particles", HDSS_PARAM_INTEGER, "2000", 100, PARTICLES_MAX, NULL, "",
                   "particles of the gas, of equal mass"},
    [STEPS] = {"steps", HDSS_PARAM_INTEGER, "500", 1, STEPS_MAX, NULL, "", "time steps, all of the same length"},
    [END_TIME] = {"end_time", HDSS_PARAM_REAL, "3", 1e-6, END_TIME_MAX, NULL, "",
                  "time at which the last step ends; with G = M = R = 1 the bounce is at about 1"},
    [THETA] = {"theta", HDSS_PARAM_REAL, "0.5", 0, 1.5, NULL, "",
               "opening angle of the octree: smaller is more exact; 0: all pairs"},
    [NEIGHBOURS] = {"neighbours", HDSS_PARAM_REAL, TEXT(NEIGHBOURS_DEFAULT), 40, 150, NULL, "",
                    "particles that a particle is smoothed over"},
    [SOFTENING] = {"softening", HDSS_PARAM_REAL, "0", 0, 1, NULL, "",
                   "length below which gravity fades; 0: 0.3 / cube root of particles"},
    [SCHEDULED] = {"scheduled", HDSS_PARAM_CHOICE, "all", 0, 0, "all|gravity", "",
                   "loops that are scheduled: density, then the forces; or gravity alone"},
    {NULL},
};

/* Until the time `until`, Courant's condition (gas_courant()) allows time steps of up to `step` times
 * particles^(-7/12). Each `step` is 5 % below the measured value. The measured values are the same for 100 and for
 * 5,000 particles. */
static const struct {
    double until, step;
} longest[] = {{0.25, 3}, {0.5, 1.8}, {0.75, 1.1}, {INFINITY, 0.76}};

enum { LONGEST = sizeof longest / sizeof *longest };

/* Returns the number by which longest[].step must be divided to get the longest time step. The influence of the number
 * of neighbours was measured for 40 to 150 neighbours. */
static double fineness(const union hdss_value *values)
{
    double particles = (double)values[PARTICLES].integer;
    return sqrt(particles) * cube_root(sqrt(sqrt(particles))) * sqrt(NEIGHBOURS_DEFAULT / values[NEIGHBOURS].real);
}

static double farthest(double steps, double fine)
{
    double end = 0;
    for (int k = 0; k < LONGEST; k++)
        end = fmax(end, fmin(longest[k].until, steps * longest[k].step / fine));
    return end;
}

static int evrard_check_steps(const union hdss_value *values, char error[HDSS_ERROR_MAX])
{
    double steps = (double)values[STEPS].integer, end_time = values[END_TIME].real, fine = fineness(values);
    int k = 0;
    while (end_time > longest[k].until)
        k++;
    double least = ceil(end_time * fine / longest[k].step);
    if (steps >= least)
        return 0;
    snprintf(
        error, HDSS_ERROR_MAX,
        "steps=%.0f would each be too long for a gas of particles=%lld; accepted: from %.0f on, or end_time= up to "
        "%.4g",
        steps, (long long)values[PARTICLES].integer, least, floor(farthest(steps, fine) * 1000) / 1000);
    return -1;
}

static int evrard_describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    uint64_t particles = (uint64_t)values[PARTICLES].integer, steps = (uint64_t)values[STEPS].integer;
    bool all = values[SCHEDULED].integer == SCHEDULED_ALL;
    uint64_t loops = steps * (all ? 2 : 1);
    if (evrard_check_steps(values, error) < 0)
        return -1;
    *loop = (struct hdss_loop){.iterations = particles * loops,
                               .type = HDSS_FLOAT64,
                               .record_length = EVRARD_FIELDS,
                               .dims = 3,
                               .shape = {steps, particles, EVRARD_FIELDS},
                               .steps = loops};
    if (all) {
        loop->dims = 4;
        memcpy(loop->shape, (uint64_t[]){steps, 2, particles, EVRARD_FIELDS}, sizeof loop->shape);
    }
    return 0;
}

struct evrard {
    struct gas gas;
    bool all;
    bool is_over;
    bool in_density;
    struct gas_push *pushes;
};

static int evrard_out_of_memory(const union hdss_value *values, char error[HDSS_ERROR_MAX])
{
    snprintf(error, HDSS_ERROR_MAX, "out of memory for particles=%lld", (long long)values[PARTICLES].integer);
    return -1;
}

static void evrard_close_instance(void *instance)
{
    struct evrard *e = instance;
    gas_fini(&e->gas);
    free(e->pushes);
    free(e);
}

static int evrard_open_instance(const union hdss_value *values, const struct hdss_loop *loop,
                                const struct hdss_worker *worker, void **instance, char error[HDSS_ERROR_MAX])
{
    (void)loop, (void)worker;
    const size_t particles = (size_t)values[PARTICLES].integer;
    double softening = values[SOFTENING].real;
    const struct gas_config config = {
        .particles = particles,
        .theta = values[THETA].real,
        .time_step = values[END_TIME].real / (double)values[STEPS].integer,
        .neighbours = values[NEIGHBOURS].real,
        .softening = softening > 0 ? softening : 0.3 / cube_root((double)particles),
    };
    struct evrard *e = calloc(1, sizeof *e);
    if (e == NULL || gas_init(&e->gas, &config) < 0) {
        free(e);
        return evrard_out_of_memory(values, error);
    }
    e->all = values[SCHEDULED].integer == SCHEDULED_ALL;
    if (!e->all && (e->pushes = calloc(particles, sizeof *e->pushes)) == NULL) {
        evrard_close_instance(e);
        return evrard_out_of_memory(values, error);
    }
    *instance = e;
    return 0;
}

static void put_place(const struct gas *gas, size_t particle, double *record)
{
    record[EVRARD_X] = gas->x[particle];
    record[EVRARD_Y] = gas->y[particle];
    record[EVRARD_Z] = gas->z[particle];
}

static void put_density(const struct gas *gas, size_t particle, const struct gas_density *density, double *record)
{
    put_place(gas, particle, record);
    record[EVRARD_DIVERGENCE] = density->divergence;
    record[EVRARD_CURL] = density->curl;
    record[EVRARD_OMEGA] = density->omega;
    record[EVRARD_U] = gas->u_now[particle];
    record[EVRARD_RHO] = density->rho;
    record[EVRARD_H] = density->h;
    record[EVRARD_NEIGHBOURS] = density->neighbours;
}

static void get_density(const double *record, struct gas_density *density)
{
    *density = (struct gas_density){.rho = record[EVRARD_RHO],
                                    .h = record[EVRARD_H],
                                    .omega = record[EVRARD_OMEGA],
                                    .divergence = record[EVRARD_DIVERGENCE],
                                    .curl = record[EVRARD_CURL]};
}

static void put_state(const struct gas *gas, size_t particle, const struct gas_state *state, double *record)
{
    put_place(gas, particle, record);
    memcpy(record + EVRARD_VX, state->velocity, sizeof state->velocity);
    record[EVRARD_U] = state->u;
    record[EVRARD_RHO] = gas->rho[particle];
    record[EVRARD_H] = gas->h[particle];
    record[EVRARD_POTENTIAL] = state->potential;
}

static void get_state(const double *record, struct gas_state *state)
{
    memcpy(state->velocity, record + EVRARD_VX, sizeof state->velocity);
    state->u = record[EVRARD_U];
}

static void run_density(const struct evrard *e, size_t particle, double *record)
{
    struct gas_density density;
    gas_density(&e->gas, particle, &density);
    put_density(&e->gas, particle, &density, record);
}

static void run_forces(const struct evrard *e, size_t particle, double *record)
{
    struct gas_state state;
    struct gas_push push;
    if (e->all)
        gas_push(&e->gas, particle, &push);
    gas_state(&e->gas, particle, e->all ? &push : &e->pushes[particle], &state);
    put_state(&e->gas, particle, &state, record);
}

static int evrard_compute(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    (void)error;
    const struct evrard *e = instance;
    double *record = records;
    for (uint64_t i = first; i < first + count; i++, record += EVRARD_FIELDS)
        (e->in_density ? run_density : run_forces)(e, i % e->gas.config.particles, record);
    return 0;
}

static int explain_too_long(struct evrard *e, double courant, char error[HDSS_ERROR_MAX])
{
    e->is_over = true;
    snprintf(error, HDSS_ERROR_MAX,
             "steps of %.3g are too long for the gas, which has come to allow %.3g: give more steps= or fewer "
             "particles=",
             e->gas.config.time_step, courant);
    return -1;
}

static int move(struct evrard *e, const double *records, char error[HDSS_ERROR_MAX])
{
    struct gas_state state;
    for (size_t i = 0; i < e->gas.config.particles; i++) {
        get_state(records + i * EVRARD_FIELDS, &state);
        gas_advance(&e->gas, i, &state);
    }
    return gas_arrange(&e->gas) == 0 ? 0 : explain_too_long(e, 0, error);
}

static int make_ready(struct evrard *e, char error[HDSS_ERROR_MAX])
{
    gas_ready(&e->gas);
    double courant = gas_courant(&e->gas);
    return e->gas.config.time_step < courant ? 0 : explain_too_long(e, courant, error);
}

static int take_densities(struct evrard *e, const double *records, char error[HDSS_ERROR_MAX])
{
    struct gas_density density;
    for (size_t i = 0; i < e->gas.config.particles; i++) {
        get_density(records + i * EVRARD_FIELDS, &density);
        gas_set_density(&e->gas, i, &density);
    }
    return make_ready(e, error);
}

static int prepare_gravity(struct evrard *e, char error[HDSS_ERROR_MAX])
{
    struct gas_density density;
    for (size_t i = 0; i < e->gas.config.particles; i++) {
        gas_density(&e->gas, i, &density);
        gas_set_density(&e->gas, i, &density);
    }
    if (make_ready(e, error) < 0)
        return -1;
    for (size_t i = 0; i < e->gas.config.particles; i++)
        gas_push(&e->gas, i, &e->pushes[i]);
    return 0;
}

static int evrard_step(void *instance, uint64_t number, const void *results, char error[HDSS_ERROR_MAX])
{
    struct evrard *e = instance;
    if (e->is_over) {
        snprintf(error, HDSS_ERROR_MAX, "the steps are too long for the gas: give more steps= or fewer particles=");
        return -1;
    }
    e->in_density = e->all && number % 2 == 0;
    if (e->all && !e->in_density)
        return take_densities(e, results, error);
    if (number > 0 && move(e, results, error) < 0)
        return -1;
    return e->all ? 0 : prepare_gravity(e, error);
}

HDSS_KERNEL(hdss_kernel) = {
    .abi = HDSS_KERNEL_ABI,
    .name = "evrard",
    .version = "1",
    .summary = "collapse of a sphere of gas by its own gravity, with smoothed particles and an octree",
    .params = params,
    .describe = evrard_describe,
    .open = evrard_open_instance,
    .run = evrard_compute,
    .step = evrard_step,
    .close = evrard_close_instance,
    .threads = HDSS_THREADS_SHARE,
};
