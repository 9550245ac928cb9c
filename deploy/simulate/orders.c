/* SPDX-License-Identifier: MIT */
/* Runs a simulation with several orders of simultaneous events; each seed gives one order. Real machines have no fixed
 * order. If the order decides which worker gets which chunk, a single run is not representative. All orders are run to
 * find their loop times. Then the run with the median time is repeated and shown. */
#include "deploy/simulate/simulation.h"

#include <stdlib.h>

struct order_time {
    struct simulation_times took;
    uint64_t seed;
};

static int order_time_compare(const void *a, const void *b)
{
    const struct order_time *first = a, *second = b;
    if (first->took.elapsed_s < second->took.elapsed_s || first->took.elapsed_s > second->took.elapsed_s)
        return first->took.elapsed_s < second->took.elapsed_s ? -1 : 1;
    return (first->seed > second->seed) - (first->seed < second->seed);
}

static int orders_run_once(struct simulation *simulation, const char *version, struct error *error)
{
    return simulation->dca ? simulation_run_dca(simulation, version, error)
                           : simulation_run_virtual(simulation, version, error);
}

static int orders_find_median(struct simulation *simulation, const char *version, struct error *error)
{
    const unsigned count = simulation->repetitions;
    const uint64_t first = simulation->seed > 0 ? simulation->seed : 1;
    struct order_time *times = calloc(count, sizeof *times);
    if (times == NULL)
        return error_set(error, "out of memory for %u repetitions", count);
    int status = 0;
    for (unsigned i = 0; status >= 0 && i < count; i++) {
        times[i].seed = simulation->at_hand.order = first + i;
        simulation->at_hand.noted = &times[i].took;
        status = orders_run_once(simulation, version, error);
    }
    simulation->at_hand.noted = NULL;
    if (status >= 0) {
        qsort(times, count, sizeof *times, order_time_compare);
        const struct order_time *median = &times[(count - 1) / 2];
        simulation->at_hand.range =
            (struct simulation_range){times[0].took.elapsed_s, median->took.elapsed_s, times[count - 1].took.elapsed_s};
        simulation->at_hand.order = median->seed;
    }
    free(times);
    return status;
}

int simulation_run_orders(struct simulation *simulation, const char *version, struct error *error)
{
    simulation->at_hand.order = simulation->seed;
    if (simulation->repetitions > 0 && orders_find_median(simulation, version, error) < 0)
        return -1;
    return orders_run_once(simulation, version, error);
}
