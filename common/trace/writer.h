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
    /* to be subtracted, modulo 2^64, from the times that rank `master` has recorded */
    uint64_t shift_ns;
    uint64_t origin_real_ns;             /* time 0 of the trace, in ns since 1970; 0: the times are simulated */
    const struct trace_worker **by_rank; /* [rank_end] the worker with this rank; NULL: the rank is no worker; owned */
    unsigned rank_end;
};

struct trace_format {
    const char *ending;
    void (*begin)(struct trace_writer *writer);
    /* if writing fails, `file` gets an error state, which is checked at the end */
    void (*row)(struct trace_writer *writer, const struct chunk_row *row);
};

extern const struct trace_format trace_csv, trace_perfetto;

/* Converts the time of a record to a time of the trace. Returns 0 if the time is before time 0 of the trace. */
static inline uint64_t trace_time(const struct trace_writer *writer, uint64_t ns)
{
    const uint64_t since = ns - writer->shift_ns;
    return since < UINT64_MAX / 2 ? since : 0;
}

static inline const struct trace_worker *trace_worker_of(const struct trace_writer *writer, uint32_t rank)
{
    return rank < writer->rank_end ? writer->by_rank[rank] : NULL;
}
