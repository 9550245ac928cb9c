/* SPDX-License-Identifier: MIT */
/* Set-up of a simulated run: all inputs of its ranks. */
#pragma once

#include "common/machine/topology.h"
#include "common/util/error.h"
#include "deploy/simulate/simgrid/run.h"
#include "deploy/simulate/simgrid/simgrid.h"
#include "deploy/simulate/virtual/perturb.h"
#include "supermaster/supermaster.h"

struct sim_setup {
    struct simulated_run run;
    struct topology topology;
    struct supermaster supermaster;
    struct perturbations perturbations;
    unsigned char *results;  /* see struct simulated_run; owned */
    unsigned char *boundary; /* see struct simulated_run; owned */
    double *speeds;          /* [workers] replacing measurements; owned; NULL: measured */
};

/* Fails if this backend lacks a requested feature. Must be freed in any case. */
int sim_setup_init(struct sim_setup *sim_setup, const struct simgrid_config *config, struct error *error);
void sim_setup_fini(struct sim_setup *sim_setup);
