/* SPDX-License-Identifier: MIT */
/* The records of one machine on their way to a trace: in memory until there are some thousand, then in a file beside
 * the trace, which trace_join() reads when the run is over. The file is opened for each write, so that it is as a whole
 * where others look for it, on another node, too, and so that a machine has none open meanwhile. */
#pragma once

#include "common/machine/chunk_trace.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_spool {
    struct trace_sink sink;       /* the machine's; the first member */
    struct trace_record *records; /* [TRACE_SPOOL_RECORDS] owned; NULL: it is not open */
    char *path;                   /* owned */
    struct error problem;         /* the first; empty where there was none. What follows it is not kept */
};

#define TRACE_SPOOL_RECORDS 2048

/* The clock of a machine beside that of its node. */
struct trace_clock {
    uint64_t machine_ns; /* clock of the machine's events */
    uint64_t real_ns;    /* time since 1970 at that moment; 0: the machine's time is simulated */
};

/* Begins the file of a machine: of rank `rank`, for the trace `path`. -1 with one line, nothing is owned. */
int trace_spool_open(struct trace_spool *spool, const char *path, unsigned rank, const struct trace_clock *clock,
                     struct error *error);

/* Writes what is left; -1 with one line where the trace is not complete. One that is not open is fine. */
int trace_spool_close(struct trace_spool *spool, struct error *error);

/* --- reading --- */

struct trace_spool_head {
    char magic[8];
    uint32_t record_bytes, rank;
    struct trace_clock clock;
    char host[64]; /* name of its node; empty where its time is simulated */
};

/* The name of the file of a rank, to be freed; NULL when memory is out. */
char *trace_spool_name(const char *path, unsigned rank);

/* Gives the records of a file piece by piece, those of a write that was cut short left out. -1 with one line; 1: there
 * is no such file. `take` returns false to stop, which is no error. */
int trace_spool_read(const char *name, struct trace_spool_head *head,
                     bool (*take)(void *context, const struct trace_record *records, size_t count), void *context,
                     struct error *error);
