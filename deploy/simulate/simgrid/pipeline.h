/* SPDX-License-Identifier: MIT */
/* The executor of a simulated worker in a loop with dependencies: a chunk goes on step by step, and each step begins
 * when the boundary data that it needs are there, as in deploy/simulate/virtual/dependent.c. */
#pragma once

#include "deploy/simulate/simgrid/work.h"

/* Boundary data that have come for the chunk that begins at `at`, or will. */
struct simulated_seam {
    uint64_t at;
    uint64_t bytes;     /* that are here, */
    uint64_t announced; /* and will be */
    unsigned awaited;   /* messages of them on their way */
};

#define SIMULATED_SEAMS_MAX (HANDOVERS_MAX + COMING_MAX)

struct simulated_pipeline {
    struct simulated_work work; /* first: the running chunk */
    struct boundaries boundaries;
    struct simulated_seam seams[SIMULATED_SEAMS_MAX]; /* [seam_count] */
    unsigned seam_count;
    uint64_t step, steps; /* of the chunk */
    double at_ns;         /* when it had come so far */
    double step_ns;       /* that the one takes which it is in */
    double compute_ns;
    bool in_step;
    bool has_waited; /* since then, for boundary data */
    bool edge_due;   /* those of the latest step are to be told */
};

/* For the w-th worker. */
void simulated_pipeline_init(struct simulated_pipeline *pipeline, struct simulated_run *run, unsigned w);
