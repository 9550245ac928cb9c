/* SPDX-License-Identifier: MIT */
/* Runs one job on both backends and prints what each says: agree PLATFORM TECHNIQUE MASTERS WORKERS ITERATIONS COSTS */
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "tests/simgrid/both.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void print(const char *name, const struct both_figures *figures, double began_s)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    printf("%-8s loop %.9f s, %llu chunks, %llu events; took %.2f s, %.0f MiB\n", name, figures->elapsed_s,
           (unsigned long long)figures->chunks, (unsigned long long)figures->events, seconds() - began_s,
           (double)usage.ru_maxrss / 1024);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct both_figures ours, theirs;
    struct error error;
    if (argc < 7)
        return 2;
    struct both_case one = {
        .platform = argv[1],
        .technique = argv[2],
        .masters = (unsigned)atoi(argv[3]),
        .workers = (unsigned)atoi(argv[4]),
        .iterations = strtoull(argv[5], NULL, 10),
        .costs = argv[6],
        .weighting = argc > 7 && strcmp(argv[7], "power") == 0 ? SCHED_WEIGHTING_POWER : SCHED_WEIGHTING_NONE,
        .measure_power = argc > 7,
        .calculation_ns = argc > 8 ? strtoull(argv[8], NULL, 10) : 0,
    };
    double began_s = seconds();
    if (both_virtual(&one, &ours, &error) < 0) {
        printf("virtual: %s\n", error.text);
        return 1;
    }
    print("virtual", &ours, began_s);
    began_s = seconds();
    if (both_simgrid(&one, &theirs, &error) < 0) {
        printf("simgrid: %s\n", error.text);
        return 1;
    }
    print("simgrid", &theirs, began_s);
    printf("virtual / simgrid %.5f\n", ours.elapsed_s / theirs.elapsed_s);
    return 0;
}
