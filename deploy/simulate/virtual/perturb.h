/* SPDX-License-Identifier: MIT */
/* Slowdowns and failures of the ranks of a simulated run, from the configuration's faults. */
#pragma once

#include "common/machine/topology.h"
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"

/* From `at_ns` on the rank's work takes `factor` times as long. */
struct slowing {
    unsigned rank;
    uint64_t at_ns;
    double factor; /* relative to its initial speed */
};

/* The rank learns at `at_ns` that `lost` has failed. */
struct notice {
    unsigned rank;
    uint64_t at_ns;
    unsigned lost;
};

/* Slowings and notices are grouped by rank and sorted by time. */
struct perturbations {
    struct slowing *slowings; /* owned; may be NULL */
    unsigned *first_slowing;  /* [ranks + 1] index of each rank's first; owned */
    uint64_t *ends_ns;        /* [ranks] failure of each rank, or NEVER; owned; NULL: none fails */
    struct notice *notices;   /* owned */
    unsigned *first_notice;   /* [ranks + 1] index of each rank's first; owned */
};

/* Must be freed in any case. */
int perturbations_init(struct perturbations *perturbations, const struct virtual_config *config,
                       const struct topology *topology, struct error *error);
void perturbations_fini(struct perturbations *perturbations);

/* Duration, from `from_ns` on, of work that takes `ns` at the rank's initial speed. */
double perturbed_ns(const struct perturbations *perturbations, unsigned rank, double from_ns, double ns);
/* Inverse: time at the initial speed for the work done from `from_ns` to `until_ns`. */
double unperturbed_ns(const struct perturbations *perturbations, unsigned rank, double from_ns, double until_ns);
