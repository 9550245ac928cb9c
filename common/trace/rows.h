/* SPDX-License-Identifier: MIT */
/* Rows of a trace, made of the records that one machine has noted (common/machine/chunk_trace.h): what each chunk was,
 * from its being asked for to its being stored.
 *
 * A machine knows when messages came, and what they say of the time that passed at the worker: in the kernel, and idle
 * before a chunk. A chunk has ended when its completion came; of completions that came together the earlier ones ended
 * before the next one of them began, and before the idle time ahead of that. Begun is ended less the time in the
 * kernel, but not before the worker was given the chunk, or had ended the one before. So both are late by the way of a
 * message, and a worker is never at two chunks at once. */
#pragma once

#include "common/machine/chunk_trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum chunk_row_kind { ROW_CHUNK, ROW_CUT, ROW_RANK_LOST, ROW_RESUMED };

/* A moment that is not known. */
#define ROW_UNKNOWN UINT64_MAX

/* Times are those of the records. A chunk has a row for each run of iterations of which the same has become: most have
 * one. The first of these that the worker computed has the time in the kernel, of all of the chunk. */
struct chunk_row {
    enum chunk_row_kind kind;
    uint64_t at_ns;  /* CHUNK: when it was assigned; CUT: when it was cut; RANK_LOST: when that was noticed; RESUMED:
                      * when this run took over what an earlier one had done */
    uint32_t worker; /* rank; CUT: for which it was cut; RESUMED: none */
    uint32_t chunk;  /* CHUNK: its number with this worker */
    uint64_t first, count;
    enum chunk_reason reason;    /* CHUNK */
    enum trace_record_kind fate; /* CHUNK: STORED to LOST; 0: nothing has become of it by the end of the trace */
    uint64_t asked_ns, begun_ns, ended_ns; /* CHUNK; ROW_UNKNOWN: not known */
    uint64_t settled_ns; /* CHUNK: when that became of the last of its iterations; ROW_UNKNOWN: it has not */
    uint64_t compute_ns; /* CHUNK: time in the kernel; 0: not known, or in another row */
    uint64_t formula;    /* CUT: the size that the technique's formula said */
};

/* Takes a row, borrowed for the call. */
typedef void chunk_row_taker(void *context, const struct chunk_row *row);

struct chunk_rows;

/* The rows go to `take`, those of a chunk once all of it is settled. NULL when memory is out. */
struct chunk_rows *chunk_rows_new(chunk_row_taker *take, void *context);

/* Takes records, in the order in which they were noted; those of the kind 0 are none. False when memory is out, or
 * where they cannot be of one machine: nothing more is to be added. */
bool chunk_rows_add(struct chunk_rows *rows, const struct trace_record *records, size_t count);

/* Nothing follows: gives the rows of chunks that are not settled. False when memory is out. */
bool chunk_rows_end(struct chunk_rows *rows);

/* NULL is fine. */
void chunk_rows_free(struct chunk_rows *rows);

/* Names as a trace has them: "own", "cut", ...; "done", "lost", ... Those of 0: "" and "open". */
const char *chunk_reason_name(enum chunk_reason reason);
const char *chunk_fate_name(enum trace_record_kind fate);
