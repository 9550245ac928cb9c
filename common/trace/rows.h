/* SPDX-License-Identifier: MIT */
/* Rows of a trace, made from the records of one machine (common/machine/chunk_trace.h). They are the history of each
 * chunk from its request to its storage.
 *
 * A machine does not know when a chunk ended. It knows when the message with the completion arrived. The message also
 * reports two durations: the kernel time of the chunk, and for how long the worker was idle before the chunk. The
 * arrival is only the latest possible end of the chunk: a worker reports several chunks in one message, and a busy
 * machine takes messages late. Therefore the times of a worker's chunks are computed backwards, from the latest chunk
 * to the oldest. The begin of a chunk is its end minus its kernel time. The chunk before it ends at the latest at that
 * begin minus the idle time. Times computed in this way are late by the shortest latency of the messages. A chunk does
 * not begin before its assignment, and a worker never computes two chunks at the same time. */
#pragma once

#include "common/machine/chunk_trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum chunk_row_kind { ROW_CHUNK, ROW_CUT, ROW_RANK_LOST, ROW_RESUMED };

#define ROW_UNKNOWN UINT64_MAX

/* All times are times of the machine, as in its records; a time may be ROW_UNKNOWN. A chunk has one row for each range
 * of iterations that had the same fate, such as STORED. So most chunks have one row. The first row with computed
 * iterations has the kernel time of the chunk. */
struct chunk_row {
    enum chunk_row_kind kind;
    /* CHUNK: time of its assignment; CUT: time of the cut; RANK_LOST: time at which the loss was detected; RESUMED:
     * time at which this run began */
    uint64_t at_ns;
    uint32_t worker; /* rank of the worker; CUT: the worker for which the chunk was cut; RESUMED: not used */
    uint32_t chunk;
    uint64_t first, count;
    enum chunk_reason reason;
    /* CHUNK: what happened to the iterations, from STORED to LOST; 0: the chunk is still open at the end of the trace
     */
    enum trace_record_kind fate;
    uint64_t asked_ns, begun_ns, ended_ns;
    uint64_t settled_ns;
    uint64_t compute_ns; /* CHUNK: kernel time of the chunk; 0: unknown, or in another row of the chunk */
    uint64_t formula;
};

/* `row` is valid only during the call. */
typedef void chunk_row_taker(void *context, const struct chunk_row *row);

struct chunk_rows;

/* After all iterations of a chunk are settled, passes the rows of the chunk to `take`. */
struct chunk_rows *chunk_rows_new(chunk_row_taker *take, void *context);

/* Adds records in the order in which they were written. Empty records, which have kind 0, are allowed. Returns false if
 * memory runs out or the records contradict each other. After it has returned false, nothing more may be added. */
bool chunk_rows_add(struct chunk_rows *rows, const struct trace_record *records, size_t count);

void chunk_rows_end(struct chunk_rows *rows);

void chunk_rows_free(struct chunk_rows *rows);

/* Names as they appear in traces. Reasons are "own", "cut" and so on, or "" for 0. Fates are "done", "lost" and so on,
 * or "open" for 0. */
const char *chunk_reason_name(enum chunk_reason reason);
const char *chunk_fate_name(enum trace_record_kind fate);
