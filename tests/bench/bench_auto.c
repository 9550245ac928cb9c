/* SPDX-License-Identifier: MIT */
/* How good a choice `--technique auto` makes: for each distribution of the synthetic kernel, on equal workers and on
 * workers of speeds 1 : 2 : 4, its time against the best of all techniques, the default and the worst. Under virtual
 * time, so that the table is the same on every machine. */
#include "common/config/run_spec.h"
#include "common/sched/sched.h"
#include "tests/cluster/contest.h"
#include "worker/kernels/synthetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 12 };

static const struct {
    const char *name;
    enum synthetic_distribution distribution;
    double spread;
} loops[] = {
    {"constant", SYNTHETIC_CONSTANT, 0},     {"increasing", SYNTHETIC_INCREASING, 1},
    {"decreasing", SYNTHETIC_DECREASING, 1}, {"gaussian 0.3", SYNTHETIC_GAUSSIAN, 0.3},
    {"gaussian 1.0", SYNTHETIC_GAUSSIAN, 1}, {"exponential", SYNTHETIC_EXPONENTIAL, 0},
    {"bimodal 0.9", SYNTHETIC_BIMODAL, 0.9},
};

static const struct {
    const char *name;
    uint64_t iterations;
    double mean_us;
    uint64_t latency_ns, service_ns;
} machines[] = {
    {"one node", 20000, 200, 2000, 1000},
    {"many nodes", 20000, 200, 50000, 5000},
    {"short iterations", 20000, 10, 50000, 5000},
    {"few iterations", 1000, 5000, 50000, 5000},
};

static double speeds[WORKERS];

static void print_row(const struct contest *contest, const char *machine)
{
    const struct technique *best = NULL, *chosen = NULL;
    double least = contest_best_seconds(contest, &best), usual = contest_seconds(contest, RUN_TECHNIQUE, NULL);
    double even = contest_seconds(contest, "static", NULL), taken = contest_seconds(contest, "auto", &chosen);
    printf("%-17s %-12s %-13s %-8s %8.4f  %-8s %8.4f  %6.3f  %6.3f  %6.3f\n", machine,
           contest->masters > 0 ? "hierarchical" : "central", contest->name, best->name, least, chosen->name, taken,
           taken / least, usual / least, even / least);
    fflush(stdout);
}

static void print_part(size_t m, unsigned masters, bool equal)
{
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        const struct contest contest = {
            .name = loops[i].name,
            .distribution = loops[i].distribution,
            .spread = loops[i].spread,
            .iterations = machines[m].iterations,
            .mean_us = machines[m].mean_us,
            .masters = masters,
            .workers = WORKERS,
            .speeds = equal ? NULL : speeds,
            .latency_ns = machines[m].latency_ns,
            .service_ns = machines[m].service_ns,
        };
        print_row(&contest, machines[m].name);
    }
}

int main(void)
{
    for (unsigned w = 0; w < WORKERS; w++)
        speeds[w] = 1 << w % 3;
    for (int equal = 1; equal >= 0; equal--) {
        printf("%s%u workers, %s; seconds of virtual time, and times the best\n", equal ? "" : "\n", WORKERS,
               equal ? "equal" : "1 : 2 : 4");
        printf("%-17s %-12s %-13s %-8s %8s  %-8s %8s  %6s  %6s  %6s\n", "machine", "topology", "loop", "best", "s",
               "auto", "s", "auto", RUN_TECHNIQUE, "static");
        for (size_t m = 0; m < sizeof machines / sizeof *machines; m++)
            for (unsigned masters = 0; masters <= 2; masters += 2)
                print_part(m, masters, equal);
    }
    return EXIT_SUCCESS;
}
