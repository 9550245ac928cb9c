/* SPDX-License-Identifier: MIT */
/* Future events, ordered by time and then by the order of scheduling. */
#pragma once

#include "common/machine/machine.h"

struct virtual_fault;

/* Larger encoded messages are allocated. */
#define FUTURE_SMALL 48

struct future {
    struct future *next; /* in the queue of a busy rank, or the list of unused futures */
    uint64_t at_ns;
    const struct virtual_fault *fault; /* fault of the configuration; NULL: an event */
    unsigned rank;
    unsigned from; /* MESSAGE, RANK_LOST; STORED: sender of the results */
    enum event_type type;
    bool wake;    /* the rank is no longer busy and takes the next event of its queue */
    bool dropped; /* cancelled */
    bool lost;    /* STORED: incomplete; ITERATIONS_FAILED: the computing process dies */
    bool over;
    bool spares; /* ITERATIONS_FAILED with `lost`: only a helper of the worker dies */
    bool now;    /* DRAIN: without finishing running iterations */
    bool fenced; /* not an event: the rank learns that it was dropped */
    bool turn;   /* with `wake`: end of the computing job's turn, see ranks.h */
    size_t size; /* MESSAGE: of the encoded bytes; STORED: of the data */
    void *data;  /* MESSAGE: data payload; STORED: data to write; PROBED: the speed; owned */
    /* MARK, SLICE, ITERATIONS_FAILED, FINISHED: of the running chunk; TIMER: of the deadline; `turn`: of the turn */
    uint64_t generation;
    const char *text;
    union {
        unsigned char small[FUTURE_SMALL]; /* MESSAGE: encoded, up to FUTURE_SMALL */
        unsigned char *bytes;              /* MESSAGE: longer; owned */
        struct part part;
        uint64_t done; /* MARK, SLICE, ITERATIONS_FAILED, FINISHED: iterations of the chunk done; LOAD: the load */
    };
};

struct due {
    uint64_t at_ns, sequence;
    struct future *future;
};

/* Futures per allocation; they are not moved. */
#define HEAP_BLOCK 1024

struct heap {
    struct due *items; /* [length]; owned */
    size_t length, capacity;
    uint64_t sequence;
    struct future **blocks; /* owned */
    size_t block_count;
    struct future *unused;
};

/* An empty future, to be scheduled or returned; NULL if memory runs out. */
struct future *heap_new(struct heap *heap);

/* -1: out of memory; then the future is returned. */
int heap_push(struct heap *heap, struct future *future);
/* Like heap_push(), but orders simultaneous futures by `order`. */
int heap_push_ordered(struct heap *heap, struct future *future, uint64_t order);

/* Removes the earliest, to be returned by the caller; NULL if there is none. */
struct future *heap_pop(struct heap *heap);

/* Frees its memory for reuse. */
void heap_return(struct heap *heap, struct future *future);

/* Multiplies the remaining time of the rank's work by `factor`. */
void heap_slow(struct heap *heap, unsigned rank, uint64_t now_ns, double factor);

/* Also frees futures that were popped or not pushed. */
void heap_fini(struct heap *heap);

/* The encoded bytes of a MESSAGE. */
static inline const unsigned char *future_bytes(const struct future *future)
{
    return future->size > FUTURE_SMALL ? future->bytes : future->small;
}
