/* SPDX-License-Identifier: MIT */
/* Slowdowns and failures of the ranks of a simulated run, as the configuration's faults say. */
#pragma once

#include "common/machine/topology.h"
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"

/* From a moment on all that a rank does takes so many times as long. */
struct slowing {
    unsigned rank;
    uint64_t at_ns;
    double factor; /* against its speed at the start */
};

/* A rank learns that another one has failed. */
struct notice {
    unsigned rank;
    uint64_t at_ns;
    unsigned lost;
};

/* The slowings, and the notices, of a rank stand together, in the order of their times. */
struct perturbations {
    struct slowing *slowings; /* NULL: there are none; owned */
    unsigned *first_slowing;  /* [ranks + 1] index of the first of each rank; owned */
    uint64_t *ends_ns;        /* [ranks] when the rank fails, or NEVER; NULL: none does; owned */
    struct notice *notices;   /* owned */
    unsigned *first_notice;   /* [ranks + 1] likewise; owned */
};

/* -1 with one line; to be released all the same. */
int perturbations_init(struct perturbations *perturbations, const struct virtual_config *config,
                       const struct topology *topology, struct error *error);
void perturbations_fini(struct perturbations *perturbations);

/* Time that the rank takes, from `from_ns` on, for what takes `ns` at its speed at the start. */
double perturbed_ns(const struct perturbations *perturbations, unsigned rank, double from_ns, double ns);
/* Time that the rank would have taken at its speed at the start for what it can do in that time. */
double unperturbed_ns(const struct perturbations *perturbations, unsigned rank, double from_ns, double until_ns);
