/* SPDX-License-Identifier: MIT */
/* The trace of a simulated run: the records of the supermaster and the masters about chunks, in simulated time. */
#pragma once

#include "common/metrics/report.h"
#include "common/trace/spool.h"
#include "common/util/error.h"

struct simulation;
struct virtual_config;

/* All zero if there is no trace. The arrays have `count` elements and are owned. */
struct sim_trace {
    struct trace_spool *spools;
    struct trace_sink **sinks;
    unsigned *ranks;
    unsigned count;
};

/* Opens the trace of the job. Does nothing if the run is only timed, or has no supermaster. Call sim_trace_fini() also
 * on failure. */
int sim_trace_open(struct sim_trace *trace, const struct simulation *simulation, const struct virtual_config *config,
                   struct error *error);

int sim_trace_end(struct sim_trace *trace, const struct simulation *simulation, const struct report *report,
                  struct error *error);
void sim_trace_fini(struct sim_trace *trace);
