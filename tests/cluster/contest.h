/* SPDX-License-Identifier: MIT */
/* A contest: the same loop on the same virtual cluster with every technique, and with `auto`. Under virtual time, so
 * that the times are exact and the same on every machine. */
#pragma once

#include "common/sched/sched.h"
#include "worker/kernels/synthetic.h"

#define CONTEST_WORKERS_MAX 64

struct contest {
    const char *name;
    enum synthetic_distribution distribution;
    double spread;
    uint64_t iterations;
    double mean_us;
    unsigned masters, workers; /* at most CONTEST_WORKERS_MAX */
    const double *speeds;      /* [workers]; NULL: all 1 */
    uint64_t latency_ns, service_ns;
};

/* A single loop may suit a technique by chance: so many are run, each with other random costs, on workers that are each
 * off their speed by a few percent, the same for all techniques; the mean of their times counts. */
#define CONTEST_LOOPS 5

/* The loop's mean time in seconds with `technique`; a run that does not end well aborts. `chosen`, unless NULL,
 * receives the technique that the supermaster used in the last. */
double contest_seconds(const struct contest *contest, const char *technique, const struct technique **chosen);

/* The least time of all techniques but rnd, which is there for comparison; `*best` receives which. */
double contest_best_seconds(const struct contest *contest, const struct technique **best);
