/* SPDX-License-Identifier: MIT */
/* Future events, ordered by time; events at the same time are in the order in which they were scheduled. */
#pragma once

#include "common/machine/machine.h"

struct virtual_fault;

#define FUTURE_SMALL 48

struct future {
    struct future *next;
    uint64_t at_ns;
    const struct virtual_fault *fault; /* the future is this fault, not an event; NULL: it is an event */
    unsigned rank;
    unsigned from; /* MESSAGE, RANK_LOST: sender, lost rank; STORED: sender of the results */
    enum event_type type;
    bool wake; /* no event: the rank is free and takes the next event of its queue */
    bool dropped;
    bool lost; /* STORED: incomplete; ITERATIONS_FAILED: the computing process dies */
    bool over;
    bool spares;
    bool now;
    bool fenced; /* no event: the rank learns that it was declared lost */
    bool turn;
    size_t size;
    void *data; /* MESSAGE: payload; STORED: what to write; PROBED: the speed; owned */
    /* Events of a chunk (MARK, SLICE, ITERATIONS_FAILED, FINISHED), TIMER and `turn` are ignored if the running
     * chunk, the deadline or the turn has another generation by then. */
    uint64_t generation;
    const char *text;
    union {
        unsigned char small[FUTURE_SMALL];
        unsigned char *bytes;
        struct part part;
        uint64_t done; /* events of a chunk: number of iterations done; LOAD: the load */
    };
};

struct due {
    uint64_t at_ns, sequence;
    struct future *future;
};

#define HEAP_BLOCK 1024

struct heap {
    struct due *items;
    size_t length, capacity;
    uint64_t sequence;
    struct future **blocks;
    size_t block_count;
    struct future *unused;
};

struct future *heap_new(struct heap *heap);

/* Returns -1 if memory runs out, after it has called heap_return(). */
int heap_push(struct heap *heap, struct future *future);
int heap_push_ordered(struct heap *heap, struct future *future, uint64_t order);

/* Removes the earliest future, which the caller must return to the heap; NULL: the heap is empty. */
struct future *heap_pop(struct heap *heap);

void heap_return(struct heap *heap, struct future *future);

void heap_slow(struct heap *heap, unsigned rank, uint64_t now_ns, double factor);

void heap_fini(struct heap *heap);

static inline const unsigned char *future_bytes(const struct future *future)
{
    return future->size > FUTURE_SMALL ? future->bytes : future->small;
}
