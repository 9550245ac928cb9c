/* SPDX-License-Identifier: MIT */
/* Internal interface between the files of common/trace: output formats, row by row. */
#pragma once

#include "common/trace/join.h"
#include "common/trace/rows.h"

#include <stdio.h>

struct trace_writer {
    FILE *file;
    const struct trace_about *about;
    unsigned master;
    uint64_t shift_ns;                   /* subtracted from the times of rank `master`, modulo 2^64 */
    uint64_t origin_real_ns;             /* ns since 1970 at time 0; 0: simulated */
    const struct trace_worker **by_rank; /* [rank_end] NULL: the rank is no worker; owned */
    unsigned rank_end;
};

struct trace_format {
    const char *ending;
    void (*begin)(struct trace_writer *writer);
    /* a write error sets the error state of `file`, which is checked at the end */
    void (*row)(struct trace_writer *writer, const struct chunk_row *row);
};

extern const struct trace_format trace_csv, trace_perfetto;

/* Converts a time of a record to a time of the trace. Returns 0 for times before the origin of the trace. */
static inline uint64_t trace_time(const struct trace_writer *writer, uint64_t ns)
{
    const uint64_t since = ns - writer->shift_ns;
    return since < UINT64_MAX / 2 ? since : 0;
}

static inline const struct trace_worker *trace_worker_of(const struct trace_writer *writer, uint32_t rank)
{
    return rank < writer->rank_end ? writer->by_rank[rank] : NULL;
}
