/* SPDX-License-Identifier: MIT */
/* The robustness of a simulated run (--robustness): the run is made again with slow workers and with lost ones, and the
 * radius of FePIA (common/metrics/fepia.h) says how far a perturbation may go.
 *
 * No run can be made for all perturbations, which are vectors with a component for each worker. Slow workers are looked
 * at in three directions: one worker, a quarter of them and half of them are slower from the start on, all by the same
 * factor. (All of them at once are a slower machine, about which no schedule can do anything.) Lost
 * ones are killed when half of the undisturbed loop time is over. In each direction the distance grows until the loop
 * time is not tolerable, and what lies between is halved until the radius is known to a hundredth; lost workers are
 * whole ones. */
#include "deploy/simulate/robust.h"

#include "common/metrics/fepia.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLOWER_FIRST 0.1 /* slowdown less 1 that is tried first */
#define SLOWER_TIMES 1.5 /* small steps: a slower worker gets less, so that a run may be tolerable again */
#define SLOWER_MOST  256.0
#define HALVED_UNTIL 0.01
#define RUNS_MOST    64 /* in one direction */

struct robust {
    struct simulation *simulation;
    simulation_once *run_once;
    const char *version;
    struct error *error;
    double nominal_s, tolerable_s, lost_at_s;
    struct fepia_run runs[RUNS_MOST]; /* [count] in the direction at hand */
    unsigned count;
    unsigned all; /* runs in all directions */
};

/* Makes the run as it is perturbed now, and notes its loop time; INFINITY where it does not come to its end. -1 with
 * one line. */
static int make_perturbed_run(struct robust *robust, double distance)
{
    struct simulation *simulation = robust->simulation;
    struct simulation_times took = {0};
    simulation->noted = &took;
    const int status = robust->run_once(simulation, robust->version, robust->error);
    simulation->noted = NULL;
    robust->runs[robust->count++] = (struct fepia_run){distance, status == 0 ? took.elapsed_s : INFINITY};
    robust->all++;
    return status < 0 ? -1 : 0;
}

static bool is_last_run_tolerable(const struct robust *robust)
{
    return robust->runs[robust->count - 1].elapsed_s < robust->tolerable_s;
}

static struct fepia_radius end_direction(struct robust *robust)
{
    const struct fepia_radius radius =
        fepia_radius_of(robust->runs, robust->count, robust->nominal_s, robust->simulation->tolerance);
    robust->count = 0;
    return radius;
}

/* --- slow workers --- */

/* Makes the run with so many workers, spread over all, 1 + `slower` times as slow. */
static int slow_down(struct robust *robust, unsigned workers, double slower, const double *speeds)
{
    struct simulation *simulation = robust->simulation;
    for (unsigned i = 0; i < workers; i++) {
        const unsigned w = (unsigned)((uint64_t)i * simulation->workers / workers);
        simulation->worker_speeds[w] = speeds[w] / (1 + slower);
    }
    const int result = make_perturbed_run(robust, slower * sqrt(workers));
    memcpy(simulation->worker_speeds, speeds, simulation->workers * sizeof *speeds);
    return result;
}

static int follow_slow_workers(struct robust *robust, unsigned workers, const double *speeds,
                               struct report_direction *direction)
{
    double tolerable = 0, slower = SLOWER_FIRST;
    int result = slow_down(robust, workers, slower, speeds);
    while (result == 0 && is_last_run_tolerable(robust) && slower < SLOWER_MOST) {
        tolerable = slower;
        slower = fmin(SLOWER_TIMES * slower, SLOWER_MOST);
        result = slow_down(robust, workers, slower, speeds);
    }
    const bool is_crossed = result == 0 && !is_last_run_tolerable(robust);
    while (result == 0 && is_crossed && slower - tolerable > HALVED_UNTIL * slower && robust->count < RUNS_MOST) {
        const double middle = (tolerable + slower) / 2;
        result = slow_down(robust, workers, middle, speeds);
        *(is_last_run_tolerable(robust) ? &tolerable : &slower) = middle;
    }
    *direction = (struct report_direction){workers, end_direction(robust)};
    return result;
}

/* The least radius; those that are above something count only where no other is known. */
static struct fepia_radius least_radius(const struct report_direction *directions, unsigned count)
{
    struct fepia_radius least = directions[0].radius;
    for (unsigned i = 1; i < count; i++) {
        const struct fepia_radius *other = &directions[i].radius;
        if (least.is_beyond == other->is_beyond ? other->radius < least.radius : least.is_beyond)
            least = *other;
    }
    return least;
}

static int find_flexibility(struct robust *robust, struct report_robustness *found)
{
    const unsigned workers = robust->simulation->workers;
    const unsigned slowed[] = {1, workers / 4, workers / 2};
    double *speeds = malloc(workers * sizeof *speeds);
    int result = speeds != NULL ? 0 : error_set(robust->error, "out of memory for %u workers", workers);
    if (speeds != NULL)
        memcpy(speeds, robust->simulation->worker_speeds, workers * sizeof *speeds);
    for (unsigned i = 0; result == 0 && i < sizeof slowed / sizeof *slowed; i++)
        if (i == 0 || (slowed[i] > slowed[i - 1] && slowed[i] > 1))
            result = follow_slow_workers(robust, slowed[i], speeds, &found->slow[found->slow_count++]);
    free(speeds);
    if (result == 0)
        found->flexibility = least_radius(found->slow, found->slow_count);
    return result;
}

/* --- lost workers --- */

/* Makes the run in which so many of the workers that serve nobody are lost, spread over all. */
static int lose_workers(struct robust *robust, unsigned lost)
{
    struct simulation *simulation = robust->simulation;
    const unsigned serving = simulation_serving_workers(simulation), others = simulation->workers - serving;
    unsigned *workers = calloc(lost, sizeof *workers);
    if (workers == NULL)
        return error_set(robust->error, "out of memory for %u lost workers", lost);
    for (unsigned i = 0; i < lost; i++)
        workers[i] = serving + (unsigned)((uint64_t)i * others / lost);
    simulation->lost_workers = workers;
    simulation->lost_count = lost;
    simulation->lost_at_ns = (uint64_t)(robust->lost_at_s * 1e9);
    const int result = make_perturbed_run(robust, lost);
    simulation->lost_workers = NULL;
    simulation->lost_count = 0;
    free(workers);
    return result;
}

static int find_resilience(struct robust *robust, struct report_robustness *found)
{
    const unsigned most = robust->simulation->workers - simulation_serving_workers(robust->simulation) - 1;
    unsigned tolerable = 0, lost = 1;
    if (robust->simulation->dca || most == 0)
        return 0;
    int result = lose_workers(robust, lost);
    while (result == 0 && is_last_run_tolerable(robust) && lost < most) {
        tolerable = lost;
        lost = lost < most / 2 ? 2 * lost : most;
        result = lose_workers(robust, lost);
    }
    const bool is_crossed = result == 0 && !is_last_run_tolerable(robust);
    while (result == 0 && is_crossed && lost - tolerable > 1 && lost - tolerable > HALVED_UNTIL * lost) {
        const unsigned middle = tolerable + (lost - tolerable) / 2;
        result = lose_workers(robust, middle);
        *(is_last_run_tolerable(robust) ? &tolerable : &lost) = middle;
    }
    found->resilience = end_direction(robust);
    return result;
}

int robust_measure(struct simulation *simulation, simulation_once *run_once, const char *version,
                   struct report_robustness *found, struct error *error)
{
    struct robust robust = {.simulation = simulation, .run_once = run_once, .version = version, .error = error};
    *found = (struct report_robustness){.tolerance = simulation->tolerance};
    struct simulation_times took = {0};
    simulation->noted = &took;
    const int status = run_once(simulation, version, error);
    simulation->noted = NULL;
    if (status < 0)
        return -1;
    robust.nominal_s = took.elapsed_s;
    if (status > 0 || robust.nominal_s <= 0)
        return 0; /* nothing is known of a run that does not come to its end */
    robust.tolerable_s = simulation->tolerance * robust.nominal_s;
    robust.lost_at_s = took.startup_s + robust.nominal_s / 2;
    if (find_flexibility(&robust, found) < 0 || find_resilience(&robust, found) < 0)
        return -1;
    found->tolerable_s = robust.tolerable_s;
    found->lost_at_s = robust.nominal_s / 2;
    found->runs = robust.all;
    return 0;
}
