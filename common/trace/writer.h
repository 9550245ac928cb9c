/* SPDX-License-Identifier: MIT */
/* The forms in which a trace is written, row by row. For the files of this folder only. */
#pragma once

#include "common/trace/join.h"
#include "common/trace/rows.h"

#include <stdio.h>

/* What a form needs beside the rows. */
struct trace_writer {
    FILE *file;                          /* the trace, under its unfinished name; borrowed */
    const struct trace_about *about;     /* borrowed */
    unsigned master;                     /* rank whose rows come */
    uint64_t shift_ns;                   /* to be taken off its times for those of the trace, modulo 2^64 */
    uint64_t origin_real_ns;             /* time since 1970 of time 0; 0: time is simulated */
    const struct trace_worker **by_rank; /* [rank_end]; NULL where no worker is; owned */
    unsigned rank_end;
};

/* A form of traces. */
struct trace_format {
    const char *ending;
    void (*begin)(struct trace_writer *writer); /* before the rows, when the origin is known */
    void (*row)(struct trace_writer *writer, const struct chunk_row *row); /* problems show at the end */
};

extern const struct trace_format trace_csv, trace_perfetto;

/* Time of the trace, in nanoseconds; what was before it is 0. */
static inline uint64_t trace_time(const struct trace_writer *writer, uint64_t ns)
{
    const uint64_t since = ns - writer->shift_ns;
    return since < UINT64_MAX / 2 ? since : 0;
}

static inline const struct trace_worker *trace_worker_of(const struct trace_writer *writer, uint32_t rank)
{
    return rank < writer->rank_end ? writer->by_rank[rank] : NULL;
}
