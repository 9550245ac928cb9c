/* SPDX-License-Identifier: MIT */
/* The trace of a virtual run, replayed: it must tell what the run has done. */
#pragma once

#include "common/machine/chunk_trace.h"
#include "deploy/simulate/virtual/cluster.h"

#include <stddef.h>

/* What a machine has noted. */
struct traced_rank {
    struct trace_sink sink; /* the first member */
    struct trace_record room[64];
    struct trace_record *records; /* [count] owned */
    size_t count, capacity;
    bool out_of_memory;
};

struct traced {
    struct traced_rank *ranks; /* [count] owned */
    struct trace_sink **sinks; /* [count] owned */
    unsigned count;
};

/* Has the run that is about to begin be traced. False when memory is out; to be released in any case. */
bool traced_begin(struct traced *traced, struct virtual_config *config);

/* After the run: NULL, or what the trace has wrong. */
const char *traced_check(struct traced *traced, const struct virtual_config *config,
                         const struct virtual_result *result);
void traced_fini(struct traced *traced);
