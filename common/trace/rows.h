/* SPDX-License-Identifier: MIT */
/* Rows of a trace, made from the records of one machine (common/machine/chunk_trace.h): the history of each chunk
 * from its request to its storage.
 *
 * A machine knows when a message arrived, and the times that the message reports: in the kernel, and idle before a
 * chunk. A worker reports several chunks at once, and a busy machine takes messages late, so the arrival is only the
 * latest possible end of a chunk. The next chunk began at its end less its kernel time. This chunk ended before that
 * beginning and before the worker's idle time between the two. So times are set from the latest to the oldest chunk.
 * They are late by the shortest latency of the messages. A chunk does not begin before its assignment, and a worker
 * never has two chunks at the same time. */
#pragma once

#include "common/machine/chunk_trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum chunk_row_kind { ROW_CHUNK, ROW_CUT, ROW_RANK_LOST, ROW_RESUMED };

#define ROW_UNKNOWN UINT64_MAX

/* Times are those of the records. A chunk has a row for each range of iterations with the same fate, mostly only one
 * row. Its kernel time is in the first row that the worker computed. A time may be ROW_UNKNOWN. */
struct chunk_row {
    enum chunk_row_kind kind;
    uint64_t at_ns;  /* CHUNK: assignment; CUT: cut; RANK_LOST: detection; RESUMED: start of this run */
    uint32_t worker; /* rank; CUT: of the worker for which it was cut; RESUMED: none */
    uint32_t chunk;
    uint64_t first, count;
    enum chunk_reason reason;
    enum trace_record_kind fate; /* CHUNK: STORED to LOST; 0: open at the end of the trace */
    uint64_t asked_ns, begun_ns, ended_ns;
    uint64_t settled_ns;
    uint64_t compute_ns; /* CHUNK: kernel time; 0: unknown, or in another row */
    uint64_t formula;
};

/* The row is borrowed for the call. */
typedef void chunk_row_taker(void *context, const struct chunk_row *row);

struct chunk_rows;

/* The rows of a chunk are passed to `take` after the whole chunk is settled. */
struct chunk_rows *chunk_rows_new(chunk_row_taker *take, void *context);

/* Adds records in their order; records of kind 0 are empty. Returns false if memory runs out or the records are
 * inconsistent: then no more may be added. */
bool chunk_rows_add(struct chunk_rows *rows, const struct trace_record *records, size_t count);

void chunk_rows_end(struct chunk_rows *rows);

void chunk_rows_free(struct chunk_rows *rows);

/* Names in traces: "own", "cut", ...; "done", "lost", ...; for 0 "" and "open". */
const char *chunk_reason_name(enum chunk_reason reason);
const char *chunk_fate_name(enum trace_record_kind fate);
