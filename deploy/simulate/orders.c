/* SPDX-License-Identifier: MIT */
/* A simulated run in several orders: what comes at one moment comes in any order on a real machine, and where that
 * decides who has which chunk, one run says little. Each order is that of a seed. The loop times of all are taken
 * first; the run of the median is then made again, and shown. */
#include "deploy/simulate/simulation.h"

#include <stdlib.h>

struct order_time {
    double elapsed_s;
    uint64_t seed;
};

static int order_time_compare(const void *a, const void *b)
{
    const struct order_time *first = a, *second = b;
    if (first->elapsed_s < second->elapsed_s || first->elapsed_s > second->elapsed_s)
        return first->elapsed_s < second->elapsed_s ? -1 : 1;
    return (first->seed > second->seed) - (first->seed < second->seed);
}

static int orders_run_once(struct simulation *simulation, uint64_t seed, const char *version, struct error *error)
{
    simulation->order = seed;
    return simulation->dca ? simulation_run_dca(simulation, version, error)
                           : simulation_run_virtual(simulation, version, error);
}

int simulation_run_orders(struct simulation *simulation, const char *version, struct error *error)
{
    const unsigned count = simulation->repetitions;
    const uint64_t first = simulation->seed > 0 ? simulation->seed : 1;
    if (count == 0)
        return orders_run_once(simulation, simulation->seed, version, error);
    struct order_time *times = calloc(count, sizeof *times);
    if (times == NULL)
        return error_set(error, "out of memory for %u repetitions", count);
    int status = 0;
    for (unsigned i = 0; status >= 0 && i < count; i++) {
        times[i].seed = first + i;
        simulation->elapsed_s = &times[i].elapsed_s;
        status = orders_run_once(simulation, first + i, version, error);
    }
    simulation->elapsed_s = NULL;
    if (status >= 0) {
        qsort(times, count, sizeof *times, order_time_compare);
        const struct order_time *median = &times[(count - 1) / 2];
        simulation->range =
            (struct simulation_range){times[0].elapsed_s, median->elapsed_s, times[count - 1].elapsed_s};
        status = orders_run_once(simulation, median->seed, version, error);
    }
    free(times);
    return status;
}
