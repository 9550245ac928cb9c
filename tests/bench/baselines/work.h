/* SPDX-License-Identifier: MIT */
/* The loop of the baselines, which counter.c, stealing.c and library.c share by different means: iterations that sleep,
 * as those of `synthetic mode=sleep distribution=exponential`. */
#pragma once

#include "worker/kernels/synthetic.h"

#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct work {
    struct synthetic_costs costs;
    double begun_s;     /* MPI_Wtime() */
    double computed_us; /* by this rank */
};

/* Reads COUNT MEAN_US from the command line, and begins when all ranks do. */
static inline void work_begin(struct work *work, int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s COUNT MEAN_US\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    *work = (struct work){.costs = {.distribution = SYNTHETIC_EXPONENTIAL,
                                    .iterations = strtoull(argv[1], NULL, 10),
                                    .mean_us = strtod(argv[2], NULL),
                                    .seed = 1}};
    MPI_Barrier(MPI_COMM_WORLD);
    work->begun_s = MPI_Wtime();
}

/* Sleeps as long as the iterations take. A sleep that ends late is made up for by those that follow. */
static inline void work_do(struct work *work, uint64_t first, uint64_t count)
{
    static struct timespec until;
    double cost_us = 0;
    struct timespec now;
    for (uint64_t i = first; i < first + count; i++)
        cost_us += synthetic_cost_us(&work->costs, i);
    work->computed_us += cost_us;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double late_ns = 1e9 * (double)(now.tv_sec - until.tv_sec) + (double)(now.tv_nsec - until.tv_nsec);
    const int64_t rest_ns = (int64_t)(1e3 * cost_us) - (late_ns < 1e6 ? (int64_t)late_ns : 0);
    const int64_t end_ns = now.tv_nsec + (rest_ns > 0 ? rest_ns : 0);
    until = (struct timespec){now.tv_sec + end_ns / 1000000000, end_ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

/* Prints time and efficiency as one line of JSON. */
static inline void work_end(struct work *work)
{
    double own[2] = {MPI_Wtime() - work->begun_s, 0}, longest, computed_us;
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Reduce(&own[0], &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&work->computed_us, &computed_us, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("{\"ranks\": %d, \"work_s\": %.9g, \"seconds\": %.9g, \"efficiency\": %.6g}\n", ranks, computed_us / 1e6,
               longest, computed_us / 1e6 / longest / ranks);
}
