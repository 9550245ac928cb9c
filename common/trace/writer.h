/* SPDX-License-Identifier: MIT */
/* The forms in which a trace is written, row by row. For the files of this folder only. */
#pragma once

#include "common/trace/join.h"
#include "common/trace/rows.h"

#include <stdio.h>

/* What a form needs beside the rows. */
struct trace_writer {
    const char *unfinished;              /* name of the trace as long as it is made; borrowed */
    FILE *file;                          /* of a form that is a file; owned; NULL: it is closed */
    struct trace_archive *archive;       /* of the form that is a folder; owned */
    const struct trace_about *about;     /* borrowed */
    unsigned supermaster;                /* rank of the supermaster */
    unsigned master;                     /* rank whose rows come */
    uint64_t shift_ns;                   /* to be taken off its times for those of the trace, modulo 2^64 */
    uint64_t origin_real_ns;             /* time since 1970 of time 0; 0: time is simulated */
    const struct trace_worker **by_rank; /* [rank_end]; NULL where no worker is; owned */
    unsigned rank_end;
};

/* A form. A trace is made under the writer's unfinished name, and gets its own when it is complete. */
struct trace_format {
    const char *ending;
    /* See trace_check(). */
    int (*check)(const char *path, struct error *error);
    /* -1 with one line; discard() follows. */
    int (*open)(struct trace_writer *writer, struct error *error);
    void (*begin)(struct trace_writer *writer); /* before the rows, when the origin is known */
    void (*row)(struct trace_writer *writer, const struct chunk_row *row); /* problems show at the end */
    /* Completes the trace and gives it the name `path`, which replaces what check() has accepted. -1 with one line;
     * discard() follows in both cases. */
    int (*finish)(struct trace_writer *writer, const char *path, struct error *error);
    /* Releases what the writer has of the form, and removes what is unfinished. */
    void (*discard)(struct trace_writer *writer);
};

/* A build without libotf2 has check() of trace_otf2 alone, which refuses it. */
extern const struct trace_format trace_csv, trace_perfetto, trace_otf2;

/* check(), open(), finish() and discard() of a form that is a file: one that is there is replaced. */
int trace_file_check(const char *path, struct error *error);
int trace_file_open(struct trace_writer *writer, struct error *error);
int trace_file_finish(struct trace_writer *writer, const char *path, struct error *error);
void trace_file_discard(struct trace_writer *writer);

/* True for a row that is shown with its time at the worker: of a chunk that has several rows the one with the time in
 * the kernel is, and those that are stored. Iterations that were not computed have no time of their own. */
static inline bool trace_row_has_stay(const struct chunk_row *row)
{
    return row->begun_ns != ROW_UNKNOWN && (row->compute_ns > 0 || row->fate == CHUNK_STORED);
}

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
