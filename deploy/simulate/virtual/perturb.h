/* SPDX-License-Identifier: MIT */
/* Slowdowns and failures of ranks in a simulated run, made from the faults of the configuration. */
#pragma once

#include "common/machine/topology.h"
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"

struct slowing {
    unsigned rank;
    uint64_t at_ns;
    double factor;
};

struct notice {
    unsigned rank;
    uint64_t at_ns;
    unsigned lost;
};

/* Slowings and notices are grouped by rank, and within a rank ordered by time. All lists are owned. */
struct perturbations {
    struct slowing *slowings;
    unsigned *first_slowing;
    uint64_t *ends_ns; /* [ranks] when each rank fails, or NEVER; NULL: none fails */
    struct notice *notices;
    unsigned *first_notice;
};

int perturbations_init(struct perturbations *perturbations, const struct virtual_config *config,
                       const struct topology *topology, struct error *error);
void perturbations_fini(struct perturbations *perturbations);

/* Returns how long work takes that begins at `from_ns` and would take `ns` at the rank's initial speed. */
double perturbed_ns(const struct perturbations *perturbations, unsigned rank, double from_ns, double ns);
/* The inverse of perturbed_ns(): returns how long the work from `from_ns` to `until_ns` would take at the rank's
 * initial speed. */
double unperturbed_ns(const struct perturbations *perturbations, unsigned rank, double from_ns, double until_ns);
