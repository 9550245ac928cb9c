/* SPDX-License-Identifier: MIT */
/* The figures of a run as its report page tells them: computed from a trace, taken from the JSON of --report, or both;
 * then those of the JSON count, as the run measured them itself. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/report/run_trace.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times in seconds, shares of 1. NAN and TRACE_UNKNOWN: not known. */
struct figures_worker {
    uint32_t rank, node, master; /* master: RUN_NO_RANK: not known */
    char *host;                  /* owned; NULL: not known */
    double power;                /* 0: not known */
    uint64_t iterations, chunks; /* that it has done; of verifications none */
    double compute_s;            /* inside the kernel, for what was done */
    double wait_s;               /* of the loop time, until it was lost, all that it did not compute what was done */
    double finish_s;             /* from the first assignment to its last completion; 0 where it completed none */
    bool is_lost;
};

/* What a technique was predicted to take. */
struct figures_prediction {
    char *technique;    /* owned */
    double predicted_s; /* NAN: it was not predicted */
};

struct figures {
    char *version, *kernel, *technique, *topology, *outcome, *origin, *checksum; /* owned; NULL: not known */
    uint64_t iterations, done; /* done: with those that an earlier run had done, which are `resumed` */
    unsigned workers, nodes, masters;
    double begin_s; /* the first assignment, in the times of the trace; 0 without one */
    double elapsed_s, startup_s;
    double compute_s;                       /* sum over the workers, for what was done */
    double verify_s;                        /* likewise, for what was computed again to be compared */
    double in_vain_s;                       /* likewise, for what was lost, dropped or failed */
    double efficiency;                      /* share of the workers' loop time in which they computed what counts */
    double max_over_mean, cov;              /* spread of finish_s */
    double percent, busy_percent, busy_cov; /* percent imbalance of finish_s and of compute_s; spread of the latter */
    double cost_s;                          /* parallel cost */
    double scheduling_s, idle_s;            /* mean overhead until a worker's last completion, and idle time after it */
    double tail_s;                          /* from the first worker that has nothing more to do to the end */
    double tail_idle;                       /* share of the workers' loop time that was idle for that */
    double latency_median_s, latency_high_s; /* from asking to being given: median, and what 95 % stay below */
    double chunk_median_s, chunk_high_s;     /* likewise of the times inside the kernel, for a chunk that was done */
    uint64_t chunks, steps, reasons[TRACE_REASONS], fates[TRACE_FATES];
    uint64_t lost_workers, recalls, recalled_iterations, reissued, duplicates, resumed, failed_iterations;
    uint64_t messages, bytes_on_wire, refills;
    /* By --technique auto, at its latest decision; nothing is owned and all is 0 where there was none. */
    struct {
        uint64_t decisions, iterations;  /* iterations: what was left to be done then; TRACE_UNKNOWN: not known */
        struct figures_prediction *list; /* [count], owned, the least first */
        size_t count;
        uint64_t time_steps; /* of the loop; 0: it has one */
        double last_step_s;  /* what the last of them took */
    } predicted;
    /* Of a simulated run. */
    struct {
        char *backend, *platform; /* owned; NULL: not known */
        uint64_t repetitions;     /* 0: there was one run */
        double least_s, most_s;   /* loop times of the repetitions */
    } simulation;
    bool is_simulated, has_trace, has_report;
    struct figures_worker *worker_stats; /* [workers], owned; by node and rank */
};

void figures_init(struct figures *figures);
void figures_fini(struct figures *figures);

/* Computes the figures of a trace, in the order of run_trace_order(). -1 with one line when memory is out. */
int figures_of_trace(struct figures *figures, const struct run_trace *trace, struct error *error);

/* Takes the figures of a report over those that are there. -1 with one line where it is none, or tells of other workers
 * than the trace. */
int figures_of_report(struct figures *figures, const json_t *report, struct error *error);

/* Whether a report says that its run was simulated. */
bool figures_report_is_simulated(const json_t *report);
