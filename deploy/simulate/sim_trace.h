/* SPDX-License-Identifier: MIT */
/* The trace of a simulated run: chunk records of supermaster and masters in simulated time. */
#pragma once

#include "common/metrics/report.h"
#include "common/trace/spool.h"
#include "common/util/error.h"

struct simulation;
struct virtual_config;

/* Zero: no trace. */
struct sim_trace {
    struct trace_spool *spools; /* [count] owned */
    struct trace_sink **sinks;  /* [count] by rank, for the cluster's configuration; owned */
    unsigned *ranks;            /* [count] supermaster and masters; owned */
    unsigned count;
};

/* Begins the job's trace, except in runs for times only. `config` lists the masters. Must be freed in any case. */
int sim_trace_open(struct sim_trace *trace, const struct simulation *simulation, const struct virtual_config *config,
                   struct error *error);

/* Joins the trace; the report lists the workers. */
int sim_trace_end(struct sim_trace *trace, const struct simulation *simulation, const struct report *report,
                  struct error *error);
void sim_trace_fini(struct sim_trace *trace);
