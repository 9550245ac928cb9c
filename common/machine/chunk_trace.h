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
    /* the technique cut this range for the worker; `figure`: the chunk size according to the technique's formula */
    CHUNK_CUT = 1,
    CHUNK_ASSIGNED, /* the worker got the chunk; `figure`: when the worker requested it */
    /* The worker finished the chunk. `figure`: time in the kernel. `wait_ns`: how long the worker was idle before the
     * chunk. `is_whole`: the whole chunk is stored, and no CHUNK_STORED record follows. */
    CHUNK_COMPUTED,
    CHUNK_STORED,
    /* These results do not count as stored: the results of another worker do, or these served only for a comparison, or
     * the disk failed. */
    CHUNK_DROPPED,
    CHUNK_RETURNED,
    CHUNK_FAILED,
    CHUNK_UNDONE, /* the worker no longer computes these iterations, because the worker leaves or the loop stops */
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
    uint32_t chunk; /* number of the chunk among the chunks of the worker; 0: no chunk */
    uint8_t kind, reason;
    bool is_whole;
    uint8_t unused[13];
};

_Static_assert(sizeof(struct trace_record) == 64, "a line of a cache, and a part of any page");

struct trace_sink {
    struct trace_record *next, *end;
    void (*take)(struct trace_sink *sink);
};

/* Requires a sink. Fill in all members of the record before trace_note(). */
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
