/* SPDX-License-Identifier: MIT */
/* One job on both backends of `hdss simulate`. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"

struct both_case {
    const char *platform;  /* as for platform_find() */
    const char *technique; /* as on the command line */
    enum sched_weighting weighting;
    unsigned masters, workers;
    uint64_t iterations;
    const char *costs; /* as for costs_distributed() */
    bool measure_power;
    uint64_t calculation_ns; /* --inject-delay */
    unsigned threads;        /* of each worker; 0 is taken as 1 */
    bool masters_compute;
};

struct both_figures {
    double elapsed_s; /* the loop time */
    uint64_t chunks, events;
};

/* -1 with one line. */
int both_virtual(const struct both_case *one, struct both_figures *figures, struct error *error);
/* In a process of its own, as one can do this once. */
int both_simgrid(const struct both_case *one, struct both_figures *figures, struct error *error);
