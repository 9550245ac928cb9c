/* SPDX-License-Identifier: MIT */
/* Types that the backends of `hdss simulate` share. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/sim_trace.h"
#include "deploy/simulate/simulation.h"
#include "deploy/simulate/virtual/cluster.h"

struct simulation_run {
    struct virtual_config config;
    /* The next four members point to owned lists. `powers` is [workers]; if it is NULL, powers are measured. */
    double *powers;
    struct virtual_fault *faults;
    struct virtual_load *loads;
    struct virtual_pod *pods;
    struct sim_trace trace;
};

/* Sets the ranks, the job, the service times and the events of the nodes in `run`. Sets neither the network nor the
 * costs of iterations. `run` borrows the simulation. `run` must be freed also on failure, and must not be moved. */
int simulation_configure(const struct simulation *simulation, struct simulation_run *run, struct error *error);
void simulation_run_fini(struct simulation_run *run);

struct simulation_model {
    const struct simulation *simulation;
    unsigned *site;
};

int simulation_model_init(struct simulation_model *model, const struct simulation *simulation,
                          struct virtual_config *config, struct error *error);
void simulation_model_fini(struct simulation_model *model);

/* Writes the trace, the summary and the report. Returns the exit status, or -1 if the run hung or memory ran out. */
int simulation_print_result(const struct simulation *simulation, struct simulation_run *run,
                            const struct virtual_result *result, const char *version, struct error *error);
