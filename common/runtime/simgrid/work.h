/* The computing of a simulated worker: chunks, marks and the probe take the time that the costs of their iterations
 * say, on the simulated core. */
#pragma once

#include "common/runtime/simgrid/rank.h"

/* Room for what a message has before its results. */
#define SIMULATED_HEADROOM 64

struct simulated_work {
    struct simulated_run *run;
    unsigned rank;
    double flops_per_ns; /* of the core */
    double speed;        /* of the worker on it: it may be slower */
    double load;         /* runnable processes on it, the worker being one */
    bool running;
    uint64_t first, count, done;
    uint64_t mark; /* 0: none */
    uint64_t started_ns;
    uint64_t sliced;                                      /* iterations whose results have left */
    unsigned char small[SIMULATED_HEADROOM + INLINE_MAX]; /* results that go within a message, behind its own bytes */
};

/* Of the w-th worker. */
void simulated_work_init(struct simulated_work *work, struct simulated_run *run, unsigned w);
/* Effects whose context is `work`. */
extern const struct effects simulated_work_effects;
