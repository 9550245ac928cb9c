/* SPDX-License-Identifier: MIT */
/* The records of one machine on their way to a trace: in a file beside it, which trace_join() reads when the run is
 * over.
 *
 * A machine notes into a part of the file that is mapped into memory: so nothing is written by a call until that part
 * is full, and what was noted is in the file, whatever becomes of the process. The part is given its place on the disk
 * before it is mapped: a full disk is found then, and the trace is not complete, and no page is missing later. */
#pragma once

#include "common/machine/chunk_trace.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_spool {
    struct trace_sink sink;       /* the machine's; the first member */
    struct trace_record *records; /* [TRACE_SPOOL_RECORDS] mapped, or, behind a problem, nowhere; owned; NULL: closed */
    uint64_t at;                  /* where they are in the file */
    char *path;                   /* owned */
    struct error problem;         /* the first; empty where there was none. What follows it is not kept */
};

/* Records that are mapped at a time: a multiple of any size of a page. */
#define TRACE_SPOOL_RECORDS 2048

/* The clock of a machine beside that of its node. */
struct trace_clock {
    uint64_t machine_ns; /* clock of the machine's events */
    uint64_t real_ns;    /* time since 1970 at that moment; 0: the machine's time is simulated */
};

/* Begins the file of a machine: of rank `rank`, for the trace `path`. -1 with one line, nothing is owned. */
int trace_spool_open(struct trace_spool *spool, const char *path, unsigned rank, const struct trace_clock *clock,
                     struct error *error);

/* Has all of it be in the file; -1 with one line where the trace is not complete. One that is not open is fine. */
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

/* True where that file is here. */
bool trace_spool_is_there(const char *path, unsigned rank);

/* Gives the records of a file piece by piece; among them are some that nothing was noted in, of the kind 0. -1 with one
 * line; 1: there is no such file. `take` returns false to stop, which is no error. */
int trace_spool_read(const char *name, struct trace_spool_head *head,
                     bool (*take)(void *context, const struct trace_record *records, size_t count), void *context,
                     struct error *error);
