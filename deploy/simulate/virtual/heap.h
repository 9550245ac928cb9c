/* SPDX-License-Identifier: MIT */
/* Future events, ordered by time; those at the same time are in the order in which they were scheduled. */
#pragma once

#include "common/machine/machine.h"

struct virtual_fault;

#define FUTURE_SMALL 48

struct future {
    struct future *next;
    uint64_t at_ns;
    const struct virtual_fault *fault; /* takes effect instead of an event; NULL: none */
    unsigned rank;
    unsigned from; /* MESSAGE, RANK_LOST; STORED: sender of the results */
    enum event_type type;
    bool wake; /* this is no event: the rank is free and takes the next event of its queue */
    bool dropped;
    bool lost; /* STORED: incomplete; ITERATIONS_FAILED: the process that computes dies */
    bool over;
    bool spares; /* ITERATIONS_FAILED and `lost`: only the worker's helper dies */
    bool now;
    bool fenced; /* this is no event: the rank learns that it was declared lost */
    bool turn;   /* with `wake`: end of the turn of the job that computes, see ranks.h */
    size_t size;
    void *data; /* MESSAGE: payload; STORED: what to write; PROBED: the speed; owned */
    /* Events of a chunk (MARK, SLICE, ITERATIONS_FAILED, FINISHED), TIMER and `turn` are out of date if the
     * generation of the running chunk, the deadline or the turn is another. */
    uint64_t generation;
    const char *text;
    union {
        unsigned char small[FUTURE_SMALL]; /* MESSAGE; a longer one has memory of its own */
        unsigned char *bytes;
        struct part part;
        uint64_t done; /* events of a chunk: iterations that are done; LOAD: the load */
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

/* Returns an empty future, to be pushed or returned; NULL if memory runs out. */
struct future *heap_new(struct heap *heap);

/* Returns -1 if memory runs out; the future is then returned to the unused ones. */
int heap_push(struct heap *heap, struct future *future);
/* Like heap_push(), but `order` decides among futures at the same time. */
int heap_push_ordered(struct heap *heap, struct future *future, uint64_t order);

/* Removes the earliest future, which the caller has to return; NULL: the heap is empty. */
struct future *heap_pop(struct heap *heap);

/* Makes the future available to heap_new(), and frees what it owns. */
void heap_return(struct heap *heap, struct future *future);

void heap_slow(struct heap *heap, unsigned rank, uint64_t now_ns, double factor);

void heap_fini(struct heap *heap);

static inline const unsigned char *future_bytes(const struct future *future)
{
    return future->size > FUTURE_SMALL ? future->bytes : future->small;
}
