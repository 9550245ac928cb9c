/* SPDX-License-Identifier: MIT */
/* The trace records of one machine: a file that trace_join() reads after the run.
 *
 * A part of the file is mapped into memory, and the machine writes records to it without system calls. So the records
 * survive if the process dies. When a part is full, the next part is mapped. Disk space is allocated before a part is
 * mapped, so that a full disk makes the trace incomplete but causes no fault later. */
#pragma once

#include "common/machine/chunk_trace.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_spool {
    struct trace_sink sink; /* interface that the machine uses; must be the first member */
    /* [TRACE_SPOOL_RECORDS] a mapped part of the file; after a problem, memory without a file; NULL: the spool is
     * closed. Owned. */
    struct trace_record *records;
    uint64_t at;
    char *path;
    /* the first problem that occurred, after which records are discarded; empty: there was none */
    struct error problem;
};

/* Number of records in a mapped part. The size of a part is a multiple of every page size. */
#define TRACE_SPOOL_RECORDS 2048

/* A point in time, read from two clocks. */
struct trace_clock {
    uint64_t machine_ns;
    uint64_t real_ns; /* ns since 1970; 0: the time is simulated */
};

/* Creates the file of `rank` for the trace `path`. On failure the caller has nothing to free. */
int trace_spool_open(struct trace_spool *spool, const char *path, unsigned rank, const struct trace_clock *clock,
                     struct error *error);

/* Completes the file; fails if the trace is incomplete. A closed spool is allowed. */
int trace_spool_close(struct trace_spool *spool, struct error *error);

struct trace_spool_head {
    char magic[8];
    uint32_t record_bytes, rank;
    struct trace_clock clock;
    char host[64];
};

/* Returns the name of a rank's file, which the caller frees. */
char *trace_spool_name(const char *path, unsigned rank);

bool trace_spool_is_there(const char *path, unsigned rank);

/* Passes the records of a file to `take`, several at a time, also empty records, which have kind 0. `take` returns
 * false to stop. Returns 0 on success, 1 if there is no such file, or -1. */
int trace_spool_read(const char *name, struct trace_spool_head *head,
                     bool (*take)(void *context, const struct trace_record *records, size_t count), void *context,
                     struct error *error);
