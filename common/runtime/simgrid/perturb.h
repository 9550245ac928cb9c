/* What is to happen to the ranks of a simulated run, and when, as the configuration's faults say. */
#pragma once

#include "common/runtime/virtual/machines.h"

/* From a moment on all that a rank does takes so many times as long. */
struct slowing {
    uint64_t at_ns;
    double factor; /* against its speed at the start */
};

struct perturbations {
    struct slowing *slowings; /* those of a rank together, in the order of their times; NULL: there are none; owned */
    unsigned *first_slowing;  /* [ranks + 1] index of the first of each rank; owned */
};

/* -1 with one line; to be released all the same. */
int perturbations_init(struct perturbations *perturbations, const struct virtual_config *config, struct error *error);
void perturbations_fini(struct perturbations *perturbations);

/* How long the rank takes, from `from_ns` on, for what takes `ns` at its speed at the start. */
double perturbed_ns(const struct perturbations *perturbations, unsigned rank, double from_ns, double ns);
/* How long the rank would have taken at its speed at the start for what it can do in that time. */
double unperturbed_ns(const struct perturbations *perturbations, unsigned rank, double from_ns, double until_ns);
