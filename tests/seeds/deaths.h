/* SPDX-License-Identifier: MIT */
/* Iterations that kill what computes them, in all runs of a job, and the judge of what becomes of them: such an
 * iteration is tried as often as is allowed in all runs together, no more and no less, is given up then, and everything
 * else is done once. */
#pragma once

#include "deploy/simulate/virtual/cluster.h"

#include <stdbool.h>
#include <stdint.h>

enum deadly_kind {
    DEADLY_HELPER,   /* kills each helper */
    DEADLY_HANG,     /* stands still, for which each helper is killed when the iteration's time is over */
    DEADLY_HALF,     /* kills the helpers of workers with even ranks */
    DEADLY_AT_FIRST, /* kills as many helpers as there are tries but one, or fewer, and works then */
    DEADLY_WORKER,   /* runs in the worker, which it kills, or in its child process */
    DEADLY_KINDS,
};

enum { DEADLY_MAX = 4 };

struct deadly {
    uint64_t iteration;
    enum deadly_kind kind;
    unsigned times;            /* AT_FIRST */
    uint64_t cost_ns;          /* at speed 1, with the beginning of another helper */
    unsigned before;           /* helpers that it has killed in earlier runs, since it was forgiven last */
    unsigned helpers, workers; /* that it has killed in this run */
};

struct deaths {
    struct deadly list[DEADLY_MAX];
    unsigned count;
    bool are_exact; /* nothing else goes wrong, and nobody computes what another one does */
    bool is_mended; /* the iterations work */
};

/* The iteration, or NULL where it does not kill. */
struct deadly *deaths_find(const struct deaths *deaths, uint64_t iteration);

enum virtual_outcome deaths_outcome(const struct deaths *deaths, unsigned rank, uint64_t iteration);

/* For virtual_config.ended. */
void deaths_note(struct deaths *deaths, uint64_t iteration, bool is_worker);

/* The next run begins, after --resume failed where it is to forgive. */
void deaths_begin_run(struct deaths *deaths, bool forgives);

/* After a run, whose configuration has the deaths that were known before. NULL, or what did not hold. */
const char *deaths_check(const struct deaths *deaths, const struct virtual_config *config,
                         const struct virtual_result *result);
