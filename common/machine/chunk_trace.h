/* SPDX-License-Identifier: MIT */
/* Trace records: what happens to each chunk. The machine that assigns a chunk (the service) writes its records.
 *
 * CHUNK_ASSIGNED says that a worker got a chunk. Later records say what happened to the iterations of the chunk. Each
 * of these covers a part of the chunk; its kind is one of CHUNK_STORED .. CHUNK_LOST. Each iteration is in exactly one
 * part. A part without iterations says that no further parts follow. CHUNK_COMPUTED says that the worker has finished
 * the chunk.
 *
 * Records are written into the buffer of a sink. The sink empties the buffer when it is full. Without a sink there are
 * no records. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_record_kind {
    /* The technique cut this range for the worker. `figure`: the chunk size that the technique's formula gave. */
    CHUNK_CUT = 1,
    CHUNK_ASSIGNED, /* The worker got the chunk. `figure`: time at which the worker requested it. */
    /* The worker finished the chunk. `figure`: time in the kernel. `wait_ns`: how long the worker was idle before the
     * chunk. `is_whole`: the whole chunk is stored, and no CHUNK_STORED record follows. */
    CHUNK_COMPUTED,
    CHUNK_STORED,
    /* These results do not count as stored. Either the results of another worker count, or these results were only
     * needed for a comparison, or they could not be written. */
    CHUNK_DROPPED,
    CHUNK_RETURNED,
    CHUNK_FAILED,
    CHUNK_UNDONE, /* the worker will not compute these iterations, because it leaves or the loop stops */
    CHUNK_LOST,
    CHUNK_RANK_LOST, /* rank `worker`, a worker or a master, was lost; the record has no chunk */
    CHUNK_RESUMED,   /* an earlier run has done the iterations; the record has no chunk and no worker */
    CHUNK_KINDS
};

enum chunk_reason {
    CHUNK_REASON_NONE,
    CHUNK_REASON_OWN,
    CHUNK_REASON_OTHER,
    CHUNK_REASON_CUT,
    CHUNK_REASON_REQUEUED,
    CHUNK_REASON_RECALLED,
    CHUNK_REASON_COPY,
    CHUNK_REASON_VERIFY,
    CHUNK_REASON_ADOPTED,
    CHUNK_REASONS
};

struct trace_record {
    uint64_t at_ns;
    uint64_t first, count;
    uint64_t figure;
    uint64_t wait_ns;
    uint32_t worker;
    uint32_t chunk; /* number of the chunk, counted for its worker; 0: the record has no chunk */
    uint8_t kind, reason;
    bool is_whole;
    uint8_t unused[13];
};

_Static_assert(sizeof(struct trace_record) == 64, "a line of a cache, and a part of any page");

struct trace_sink {
    struct trace_record *next, *end;
    void (*take)(struct trace_sink *sink);
};

/* Returns the record to fill in; all its members must be set before trace_note(). Requires a sink. */
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
