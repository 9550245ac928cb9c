/* SPDX-License-Identifier: MIT */
/* Types that the backends of `hdss simulate` have in common: what they are given, and what they say of the outcome. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/sim_trace.h"
#include "deploy/simulate/simulation.h"
#include "deploy/simulate/virtual/cluster.h"

struct simulation_run {
    struct virtual_config config;
    double *powers;               /* [workers] NULL: they are measured; owned */
    struct virtual_fault *faults; /* events at the nodes, rank by rank; owned */
    struct virtual_load *loads;   /* owned */
    struct virtual_pod *pods;     /* owned */
    struct sim_trace trace;
};

/* Sets the line-up, the job, the service times and what happens to the nodes; the network and the costs of the
 * iterations are not in it. The simulation is borrowed. -1 with one line; to be released all the same, and not moved.
 */
int simulation_configure(const struct simulation *simulation, struct simulation_run *run, struct error *error);
void simulation_run_fini(struct simulation_run *run);

/* The network and the costs, in virtual time: the arguments of the cluster's functions. */
struct simulation_model {
    const struct simulation *simulation; /* borrowed */
    unsigned *site;                      /* [nodes] owned */
};

/* Sets them in the configuration, which borrows the model. -1 with one line. */
int simulation_model_init(struct simulation_model *model, const struct simulation *simulation,
                          struct virtual_config *config, struct error *error);
void simulation_model_fini(struct simulation_model *model);

/* The trace, the summary and the report. Returns the exit status; -1 with one line where there is none, as the run
 * hung. */
int simulation_print_result(const struct simulation *simulation, struct simulation_run *run,
                            const struct virtual_result *result, const char *version, struct error *error);
