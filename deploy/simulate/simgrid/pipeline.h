/* SPDX-License-Identifier: MIT */
/* The executor of a simulated worker in a loop with dependencies: a chunk goes on step by step, and each step begins
 * when the boundary data that it needs are there, as in deploy/simulate/virtual/dependent.c. */
#pragma once

#include "deploy/simulate/simgrid/work.h"
#include "worker/worker.h"

/* Boundary data that have come for the chunk that begins at `at`, or will. */
struct simulated_halo {
    uint64_t at;
    uint64_t bytes;     /* bytes that are here */
    uint64_t announced; /* bytes that are here or will be */
    unsigned awaited;   /* messages with such data on their way */
};

#define SIMULATED_BOUNDARIES_MAX (HALO_SENDS_MAX + HALO_RECEIVES_MAX)

struct simulated_pipeline {
    struct simulated_work work; /* first: the running chunk */
    struct boundaries boundaries;
    struct simulated_halo halos[SIMULATED_BOUNDARIES_MAX]; /* [halo_count] */
    unsigned halo_count;
    uint64_t step, steps; /* steps of the chunk: done, all */
    double at_ns;         /* when the chunk had come to `step` */
    double step_ns;       /* time that the running step takes */
    double compute_ns;
    bool in_step;
    bool has_waited; /* the next step has, for boundary data */
    bool ready_due;  /* boundary data of the latest step are to be told */
};

/* For the w-th worker. */
void simulated_pipeline_init(struct simulated_pipeline *pipeline, struct simulated_run *run, unsigned w);
