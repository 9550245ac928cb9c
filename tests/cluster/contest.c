/* SPDX-License-Identifier: MIT */
/* Running a contest: see contest.h. */
#include "tests/cluster/contest.h"

#include "common/config/run_spec.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "deploy/simulate/virtual/cluster.h"
#include "supermaster/supermaster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double cost_ns(void *context, uint64_t iteration)
{
    return 1000 * synthetic_cost_us(context, iteration);
}

/* Even in [1 - SPEED_OFF, 1 + SPEED_OFF]. */
#define SPEED_OFF 0.03

static double run_loop(const struct contest *contest, const char *technique, unsigned loop,
                       const struct technique **chosen)
{
    struct error error;
    double speeds[CONTEST_WORKERS_MAX];
    for (unsigned w = 0; w < contest->workers; w++) {
        double off = SPEED_OFF * (2 * random_to_uniform(random_at(loop, w)) - 1);
        speeds[w] = (contest->speeds != NULL ? contest->speeds[w] : 1) * (1 + off);
    }
    struct synthetic_costs costs = {
        .distribution = contest->distribution,
        .iterations = contest->iterations,
        .mean_us = contest->mean_us,
        .spread = contest->spread,
        .seed = loop + 1,
    };
    const struct virtual_config config = {
        .masters = contest->masters,
        .workers = contest->workers,
        .technique = technique,
        .spec.min_chunk = 1,
        .count = contest->iterations,
        .spec.power = RUN_POWER_MEASURE,
        .latency_ns = contest->latency_ns,
        .service_ns = contest->service_ns,
        .speeds = speeds,
        .cost_ns = cost_ns,
        .context = &costs,
    };
    struct virtual_cluster *cluster = virtual_new(&config, &error);
    if (cluster == NULL) {
        fprintf(stderr, "%s: %s\n", technique, error.text);
        abort();
    }
    struct virtual_result result = virtual_run(cluster);
    if (result.status != 0) {
        fprintf(stderr, "%s, %s: the run ended with %d\n", contest->name, technique, result.status);
        abort();
    }
    const struct supermaster *supermaster = result.supermaster;
    double seconds = (double)(supermaster->last_commit_ns - supermaster->cut.first_ns) / 1e9;
    if (chosen != NULL)
        *chosen = supermaster->technique.sched.technique;
    virtual_free(cluster);
    return seconds;
}

double contest_seconds(const struct contest *contest, const char *technique, const struct technique **chosen)
{
    double sum = 0;
    for (unsigned loop = 0; loop < CONTEST_LOOPS; loop++)
        sum += run_loop(contest, technique, loop, chosen);
    return sum / CONTEST_LOOPS;
}

double contest_best_seconds(const struct contest *contest, const struct technique **best)
{
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    double least = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(techniques[i]->name, "rnd") == 0)
            continue;
        double seconds = contest_seconds(contest, techniques[i]->name, NULL);
        if (least == 0 || seconds < least) {
            least = seconds;
            *best = techniques[i];
        }
    }
    return least;
}
