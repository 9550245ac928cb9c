/* SPDX-License-Identifier: MIT */
/* Records of what becomes of chunks, as the machines that assign them note them for a trace.
 *
 * A service notes each chunk that a worker is assigned, and then, part by part, what becomes of its iterations: each of
 * them is in exactly one part, STORED to LOST. A part without iterations closes a chunk of which nothing else comes.
 * COMPUTED says that the worker is through with the chunk.
 *
 * Noting fills a record in room of the sink's, and does nothing else until the room is full: no call is made for each
 * chunk. Nothing is noted where there is no sink. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_record_kind {
    CHUNK_CUT = 1,   /* the technique has cut the range for the worker; figure: the size that its formula says */
    CHUNK_ASSIGNED,  /* the worker is given the chunk; figure: when it had asked for it */
    CHUNK_COMPUTED,  /* the worker has told that it is through; figure: time in the kernel, wait_ns: idle before it.
                        is_whole: all of it counts as STORED, and no other record says so */
    CHUNK_STORED,    /* results are on the disk, or have come where none are collected */
    CHUNK_DROPPED,   /* results do not count, as those of another worker do, or were only compared */
    CHUNK_RETURNED,  /* iterations that had not begun were given up, for others */
    CHUNK_FAILED,    /* iterations did not work */
    CHUNK_UNDONE,    /* the worker does not compute them any more: it leaves, or the loop stands still */
    CHUNK_LOST,      /* the worker was lost with them */
    CHUNK_RANK_LOST, /* a rank was lost, `worker`: a worker or a master; there is no chunk */
    CHUNK_RESUMED,   /* an earlier run has done the range, as its journal says; there is no chunk, and no worker */
    CHUNK_KINDS
};

/* Why a worker was assigned just this chunk. */
enum chunk_reason {
    CHUNK_REASON_NONE,
    CHUNK_REASON_OWN,      /* from the pool: cut for it */
    CHUNK_REASON_OTHER,    /* from the pool: cut for another worker, as there was none of its own */
    CHUNK_REASON_CUT,      /* cut at its request */
    CHUNK_REASON_REQUEUED, /* another worker was lost with it, or failed */
    CHUNK_REASON_RECALLED, /* another worker had not begun it */
    CHUNK_REASON_COPY,     /* another worker computes it, and is late */
    CHUNK_REASON_VERIFY,   /* another worker has computed it, to be compared */
    CHUNK_REASON_ADOPTED,  /* the worker computed it when its master was lost */
    CHUNK_REASONS
};

struct trace_record {
    uint64_t at_ns; /* clock of the events of the machine that notes */
    uint64_t first, count;
    uint64_t figure;  /* see enum trace_record_kind */
    uint64_t wait_ns; /* COMPUTED only */
    uint32_t worker;  /* rank */
    uint32_t chunk;   /* number of the chunk, of this worker's; 0: none */
    uint8_t kind, reason;
    bool is_whole;
    uint8_t unused[13];
};

_Static_assert(sizeof(struct trace_record) == 64, "a line of a cache, and a part of any page");

/* Takes records. */
struct trace_sink {
    struct trace_record *next, *end;       /* room for at least one record */
    void (*take)(struct trace_sink *sink); /* takes what was noted, and makes room for more */
};

/* The record that is noted next, to be filled in whole, in a sink that there is; trace_note() follows. */
static inline struct trace_record *trace_next(const struct trace_sink *sink)
{
    return sink->next;
}

/* Notes the record that trace_next() has given. */
static inline void trace_note(struct trace_sink *sink)
{
    if (++sink->next == sink->end)
        sink->take(sink);
}

/* Has the sink, if there is one, take what was noted so far. */
static inline void trace_flush(struct trace_sink *sink)
{
    if (sink != NULL)
        sink->take(sink);
}
