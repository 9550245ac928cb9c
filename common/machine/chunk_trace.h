/* SPDX-License-Identifier: MIT */
/* Trace records of what happens to chunks, noted by the machines that assign them.
 *
 * A service notes each assigned chunk and then, part by part, what happens to its iterations: each is in exactly one
 * part of kind STORED to LOST. An empty part closes a chunk of which nothing more comes. COMPUTED says that the worker
 * has finished the chunk.
 *
 * Noting only fills a record in the sink's buffer until that is full. Nothing is noted without a sink. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_record_kind {
    CHUNK_CUT = 1,  /* the technique cut the range for the worker; `figure`: size by the technique's formula */
    CHUNK_ASSIGNED, /* the worker got the chunk; `figure`: when it had requested the chunk */
    /* The worker finished the chunk; `figure`: time in the kernel; `wait_ns`: how long the worker was idle before.
     * `is_whole`: the whole chunk counts as STORED, without another record. */
    CHUNK_COMPUTED,
    CHUNK_STORED,   /* results are on the disk, or received if none are collected */
    CHUNK_DROPPED,  /* results do not count, because another worker's do or because they were only compared */
    CHUNK_RETURNED, /* the worker gave up iterations that it had not begun, for other workers */
    CHUNK_FAILED,
    CHUNK_UNDONE, /* the worker does not compute these iterations any more, because it leaves or the loop stops */
    CHUNK_LOST,
    CHUNK_RANK_LOST, /* rank `worker`, a worker or a master, was lost; the record has no chunk */
    CHUNK_RESUMED,   /* an earlier run has done the iterations, by its journal; the record has no chunk and no worker */
    CHUNK_KINDS
};

/* Why the worker got this chunk. */
enum chunk_reason {
    CHUNK_REASON_NONE,
    CHUNK_REASON_OWN,      /* the pool had a chunk that was cut for this worker */
    CHUNK_REASON_OTHER,    /* the pool only had chunks that were cut for other workers */
    CHUNK_REASON_CUT,      /* the chunk was cut at the worker's request */
    CHUNK_REASON_REQUEUED, /* another worker was lost with the chunk, or failed at it */
    CHUNK_REASON_RECALLED, /* another worker had not begun the chunk */
    CHUNK_REASON_COPY,     /* another worker is late with the chunk */
    CHUNK_REASON_VERIFY,   /* the chunk is computed again to compare results */
    CHUNK_REASON_ADOPTED,  /* the worker was computing the chunk when its master was lost */
    CHUNK_REASONS
};

struct trace_record {
    uint64_t at_ns;
    uint64_t first, count;
    uint64_t figure;
    uint64_t wait_ns; /* COMPUTED only */
    uint32_t worker;  /* rank */
    uint32_t chunk;   /* chunk number of this worker; 0: none */
    uint8_t kind, reason;
    bool is_whole;
    uint8_t unused[13];
};

_Static_assert(sizeof(struct trace_record) == 64, "a line of a cache, and a part of any page");

struct trace_sink {
    struct trace_record *next, *end;
    void (*take)(struct trace_sink *sink);
};

/* Returns the next record, to be filled in completely before trace_note(); requires a sink. */
static inline struct trace_record *trace_next(const struct trace_sink *sink)
{
    return sink->next;
}

static inline void trace_note(struct trace_sink *sink)
{
    if (++sink->next == sink->end)
        sink->take(sink);
}

static inline void trace_flush(struct trace_sink *sink)
{
    if (sink != NULL)
        sink->take(sink);
}
