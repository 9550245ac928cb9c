/* SPDX-License-Identifier: MIT */
/* The trace of a simulated run: what its supermaster and its masters note of chunks, in simulated time. */
#pragma once

#include "common/metrics/report.h"
#include "common/trace/spool.h"
#include "common/util/error.h"

struct simulation;
struct virtual_config;

/* Zero where there is none. */
struct sim_trace {
    struct trace_spool *spools; /* [count] owned */
    struct trace_sink **sinks;  /* [count] by rank, as a cluster's configuration has them; owned */
    unsigned *ranks;            /* [count] of the supermaster and the masters; owned */
    unsigned count;
};

/* Begins the trace that the job wants: not that of a run of which only the time is noted. `config` says which masters
 * there will be. -1 with one line; to be released in any case. */
int sim_trace_open(struct sim_trace *trace, const struct simulation *simulation, const struct virtual_config *config,
                   struct error *error);

/* Makes the trace; the report says which workers there were. -1 with one line. */
int sim_trace_end(struct sim_trace *trace, const struct simulation *simulation, const struct report *report,
                  struct error *error);
void sim_trace_fini(struct sim_trace *trace);
