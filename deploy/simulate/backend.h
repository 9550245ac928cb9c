/* SPDX-License-Identifier: MIT */
/* Common types of the backends of `hdss simulate`. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/sim_trace.h"
#include "deploy/simulate/simulation.h"
#include "deploy/simulate/virtual/cluster.h"

struct simulation_run {
    struct virtual_config config;
    double *powers;               /* [workers] owned; NULL: measured */
    struct virtual_fault *faults; /* owned */
    struct virtual_load *loads;   /* owned */
    struct virtual_pod *pods;     /* owned */
    struct sim_trace trace;
};

/* Sets line-up, job, service times and events of the nodes, without network and iteration costs. The simulation is
 * borrowed. `run` must be freed in any case and not moved. */
int simulation_configure(const struct simulation *simulation, struct simulation_run *run, struct error *error);
void simulation_run_fini(struct simulation_run *run);

/* Network and costs in virtual time: context of the cluster's callbacks. */
struct simulation_model {
    const struct simulation *simulation; /* borrowed */
    unsigned *site;                      /* [nodes] owned */
};

int simulation_model_init(struct simulation_model *model, const struct simulation *simulation,
                          struct virtual_config *config, struct error *error);
void simulation_model_fini(struct simulation_model *model);

/* Writes trace, summary and report. Returns the exit status; -1 if there is none because the run hung. */
int simulation_print_result(const struct simulation *simulation, struct simulation_run *run,
                            const struct virtual_result *result, const char *version, struct error *error);
