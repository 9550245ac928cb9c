/* SPDX-License-Identifier: MIT */
/* The future: what will happen, by time and, at the same time, in the order in which it was scheduled. */
#pragma once

#include "common/machine/machine.h"

struct virtual_fault;

/* Encoded messages up to this size are kept inside. */
#define FUTURE_SMALL 48

struct future {
    struct future *next; /* in the queue of a rank that is busy, or among the unused */
    uint64_t at_ns;
    const struct virtual_fault *fault; /* fault of the configuration that this is about; NULL: this is an event */
    unsigned rank;                     /* receiver */
    unsigned from;                     /* MESSAGE, RANK_LOST; STORED: who sent the results */
    enum event_type type;
    bool wake;           /* the rank is no longer busy: it takes the next event of its queue */
    bool dropped;        /* the event will not happen after all */
    bool lost;           /* STORED; ITERATIONS_FAILED: it ends the process that computes it */
    bool over;           /* the fault is over */
    bool spares;         /* ITERATIONS_FAILED that is lost: that process is a helper of the worker */
    bool now;            /* DRAIN: nor is what runs to be finished */
    bool fenced;         /* not an event: the rank learns that it was dropped */
    bool turn;           /* with wake: the turn of the job that computes is over, see ranks.h */
    size_t size;         /* MESSAGE: of the encoded bytes; STORED: of the data */
    void *data;          /* MESSAGE: data payload; STORED: what is still to be written; PROBED: the speed; owned */
    uint64_t generation; /* MARK, SLICE, ITERATIONS_FAILED, FINISHED: of the running chunk; TIMER: of the deadline;
                            turn: of the turn */
    const char *text;
    union {
        unsigned char small[FUTURE_SMALL]; /* MESSAGE: encoded, up to that size */
        unsigned char *bytes;              /* MESSAGE: longer ones; owned */
        struct part part;                  /* STORED */
        uint64_t
            done; /* MARK, SLICE, ITERATIONS_FAILED, FINISHED: iterations of the chunk behind it; LOAD: what it is */
    };
};

/* The time at which a future is due. */
struct due {
    uint64_t at_ns, sequence;
    struct future *future;
};

/* The number of futures that are allocated at once; they stay where they are. */
#define HEAP_BLOCK 1024

struct heap {
    struct due *items; /* [length]; owned */
    size_t length, capacity;
    uint64_t sequence;
    struct future **blocks; /* owned */
    size_t block_count;
    struct future *unused;
};

/* An empty one that the caller fills and schedules, or returns; NULL when memory is out. */
struct future *heap_new(struct heap *heap);

/* Schedules it. -1 when memory is out; it is returned then. */
int heap_push(struct heap *heap, struct future *future);
/* Schedules an event; of events of one time the one with the lowest `order` comes first. */
int heap_push_ordered(struct heap *heap, struct future *future, uint64_t order);

/* The earliest; NULL when nothing will happen any more. The caller returns it. */
struct future *heap_pop(struct heap *heap);

/* Frees what it owns; it may be used again. */
void heap_return(struct heap *heap, struct future *future);

/* The rank's work takes so many times as long from `now_ns` on. */
void heap_slow(struct heap *heap, unsigned rank, uint64_t now_ns, double factor);

/* Frees all, those included that were popped or not pushed. */
void heap_fini(struct heap *heap);

/* The encoded bytes of a MESSAGE. */
static inline const unsigned char *future_bytes(const struct future *future)
{
    return future->size > FUTURE_SMALL ? future->bytes : future->small;
}
