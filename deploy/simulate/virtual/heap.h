/* SPDX-License-Identifier: MIT */
/* Future events, ordered by time. Events at the same time are in the order in which they were scheduled, unless
 * heap_push_ordered() gives another order. */
#pragma once

#include "common/machine/machine.h"

struct virtual_fault;

#define FUTURE_SMALL 48

struct future {
    struct future *next;
    uint64_t at_ns;
    const struct virtual_fault *fault; /* if not NULL, the future is this fault and no event */
    unsigned rank;
    unsigned from; /* MESSAGE: sender; RANK_LOST: lost rank; STORED: rank that has sent the results */
    enum event_type type;
    bool wake; /* this is not an event: the rank has become free and takes the next event of its queue */
    bool dropped;
    bool lost; /* STORED: the results are incomplete; ITERATIONS_FAILED: the process that computes dies */
    bool over;
    bool spares;
    bool now;
    bool fenced; /* not an event: the rank learns that it was declared lost */
    bool turn;
    size_t size;
    void *data; /* MESSAGE: payload of the message; STORED: results to write; PROBED: the speed; owned */
    /* Only for events of a chunk (MARK, SLICE, ITERATIONS_FAILED, FINISHED), TIMER and `turn`: generation of the
     * running chunk, of the deadline or of the turn when the future was scheduled. If the generation has changed when
     * the future is due, the future is ignored. */
    uint64_t generation;
    const char *text;
    union {
        unsigned char small[FUTURE_SMALL];
        unsigned char *bytes;
        struct part part;
        uint64_t done; /* events of a chunk: number of iterations that are done; LOAD: the load */
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

/* Returns -1 if memory runs out; in that case heap_return() was already called for the future. */
int heap_push(struct heap *heap, struct future *future);
int heap_push_ordered(struct heap *heap, struct future *future, uint64_t order);

/* Removes and returns the earliest future. The caller must give it back with heap_return(). Returns NULL if the heap is
 * empty. */
struct future *heap_pop(struct heap *heap);

void heap_return(struct heap *heap, struct future *future);

void heap_slow(struct heap *heap, unsigned rank, uint64_t now_ns, double factor);

void heap_fini(struct heap *heap);

static inline const unsigned char *future_bytes(const struct future *future)
{
    return future->size > FUTURE_SMALL ? future->bytes : future->small;
}
