/* SPDX-License-Identifier: MIT */
/* Executor of a simulated worker in a loop with dependencies: a chunk proceeds in steps, and each step begins after its
 * boundary data have arrived, as in deploy/simulate/virtual/dependent.c. */
#pragma once

#include "deploy/simulate/simgrid/work.h"
#include "worker/worker.h"

/* Boundary data for the chunk that begins at `at`. */
struct simulated_halo {
    uint64_t at;
    uint64_t bytes;     /* arrived */
    uint64_t announced; /* arrived or announced */
    unsigned awaited;   /* pending messages with such data */
};

#define SIMULATED_BOUNDARIES_MAX (HALO_SENDS_MAX + HALO_RECEIVES_MAX)

struct simulated_pipeline {
    struct simulated_work work; /* the running chunk; must be the first member */
    struct boundaries boundaries;
    struct simulated_halo halos[SIMULATED_BOUNDARIES_MAX]; /* [halo_count] */
    unsigned halo_count;
    uint64_t step, steps; /* steps done, and steps of the chunk */
    double at_ns;         /* time at which `step` steps were done */
    double step_ns;       /* duration of the running step */
    double compute_ns;
    bool in_step;
    bool has_waited; /* the next step has waited for boundary data */
    bool ready_due;  /* boundary data of the latest step are to be reported */
};

/* For worker `w`. */
void simulated_pipeline_init(struct simulated_pipeline *pipeline, struct simulated_run *run, unsigned w);
