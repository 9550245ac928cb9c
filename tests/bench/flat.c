/* SPDX-License-Identifier: MIT */
/* What a flat draw costs without MPI, one thread, nobody else: from a node's queue, and by each way from counters that
 * are C11 atomics. Nanoseconds, the best of a few rounds, as what disturbs a round slows it. Target: 100 ns from the
 * queue. */
#include "common/dca/core.h"
#include "common/dca/core_queue.h"
#include "common/dca/machine.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ITERATIONS UINT64_C(2000000)
#define ROUNDS     5
#define WORKERS    4

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static struct sched_spec spec_of(const char *text)
{
    struct sched_spec spec;
    struct error error;
    if (sched_spec_parse(&spec, text, &error) == 0)
        return spec;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

static void fail(const struct error *error)
{
    fprintf(stderr, "%s\n", error->text);
    exit(1);
}

/* The whole loop from one big chunk. */
static double draw_from_queue(const char *technique)
{
    struct dca_queue queue;
    struct dca_view view;
    struct range chunk;
    struct error error;
    const struct sched_spec spec = spec_of(technique);
    uint64_t draws = 0;
    memset(&queue, 0, sizeof queue);
    if (dca_view_init(&view, &spec, WORKERS, &error) < 0)
        fail(&error);
    if (dca_queue_draw(&queue, &view, &chunk, &error) == DCA_REFILL)
        dca_queue_refill(&queue, &(struct range){0, ITERATIONS});
    if (dca_queue_draw(&queue, &view, &chunk, &error) != DCA_DRAWN) /* prepares the view */
        exit(1);
    double began = now_ns();
    while (dca_queue_draw(&queue, &view, &chunk, &error) == DCA_DRAWN)
        draws++;
    double elapsed = now_ns() - began;
    dca_view_fini(&view);
    return elapsed / (double)draws;
}

static uint64_t fetch_add(void *self, enum dca_counter counter, uint64_t amount, bool assigns)
{
    (void)assigns;
    return atomic_fetch_add(&((_Atomic uint64_t *)self)[counter], amount);
}

static double draw_from_counters(const char *technique, bool two_counters)
{
    _Atomic uint64_t shared[DCA_COUNTERS] = {0};
    const double powers[WORKERS] = {1, 1, 1, 1};
    const struct sched_spec spec = spec_of(technique);
    const struct dca_config config = {.technique = &spec,
                                      .sched = {.iterations = ITERATIONS, .workers = WORKERS, .powers = powers},
                                      .two_counters = two_counters};
    const struct dca_counters counters = {.self = shared, .fetch_add = fetch_add};
    struct dca_core core;
    struct dca_machine machine;
    struct range chunk;
    struct error error;
    uint64_t draws = 0;
    if (dca_init(&core, &config, &error) < 0)
        fail(&error);
    dca_machine_init(&machine, &core, 0, 1, false);
    double began = now_ns();
    while (dca_machine_draw(&machine, &counters, &chunk))
        draws++;
    double elapsed = now_ns() - began;
    dca_fini(&core);
    return elapsed / (double)draws;
}

static double least(double best, double value)
{
    return best == 0 || value < best ? value : best;
}

int main(void)
{
    static const char *const techniques[] = {"ss", "css:chunk=4", "rnd:lo=1,hi=8", "gss", "fac2"};
    static const char *const remaining[] = {"dfss", "dgss", "dtss"};
    printf("One draw in ns (best of %d rounds)\n  %-16s %10s %10s %10s\n", ROUNDS, "technique", "queue", "place",
           "step");
    for (size_t i = 0; i < sizeof techniques / sizeof *techniques; i++) {
        double queue = 0, place = 0, step = 0;
        for (int round = 0; round < ROUNDS; round++) {
            queue = least(queue, draw_from_queue(techniques[i]));
            place = least(place, draw_from_counters(techniques[i], false));
            step = least(step, draw_from_counters(techniques[i], true));
        }
        printf("  %-16s %10.1f %10.1f %10.1f\n", techniques[i], queue, place, step);
    }
    printf("  %-16s %10s\n", "technique", "rest");
    for (size_t i = 0; i < sizeof remaining / sizeof *remaining; i++) {
        double best = 0;
        for (int round = 0; round < ROUNDS; round++)
            best = least(best, draw_from_counters(remaining[i], false));
        printf("  %-16s %10.1f\n", remaining[i], best);
    }
    return 0;
}
