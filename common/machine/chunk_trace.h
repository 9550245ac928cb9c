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
    CHUNK_CUT = 1,  /* the technique cut the range for the worker; figure: size by its formula */
    CHUNK_ASSIGNED, /* the worker got the chunk; figure: when it had requested it */
    /* the worker finished; figure: time in the kernel, wait_ns: idle before it. is_whole: all of it counts as STORED,
     * without another record */
    CHUNK_COMPUTED,
    CHUNK_STORED,   /* results are on the disk, or received if none are collected */
    CHUNK_DROPPED,  /* results do not count: another worker's do, or they were only compared */
    CHUNK_RETURNED, /* iterations not begun were given up for others */
    CHUNK_FAILED,
    CHUNK_UNDONE, /* not computed by this worker any more: it leaves, or the loop stops */
    CHUNK_LOST,
    CHUNK_RANK_LOST, /* rank `worker`, a worker or a master, was lost; no chunk */
    CHUNK_RESUMED,   /* done by an earlier run, according to its journal; no chunk and no worker */
    CHUNK_KINDS
};

/* Why the worker got this chunk. */
enum chunk_reason {
    CHUNK_REASON_NONE,
    CHUNK_REASON_OWN,      /* from the pool: cut for it */
    CHUNK_REASON_OTHER,    /* from the pool: cut for another worker, because this one had none */
    CHUNK_REASON_CUT,      /* cut at its request */
    CHUNK_REASON_REQUEUED, /* another worker was lost with it, or failed */
    CHUNK_REASON_RECALLED, /* another worker had not begun it */
    CHUNK_REASON_COPY,     /* another worker is late with it */
    CHUNK_REASON_VERIFY,   /* computed again to compare results */
    CHUNK_REASON_ADOPTED,  /* the worker computed it when its master was lost */
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
