/* The future: what will happen, by time and, at the same time, in the order in which it was scheduled. */
#pragma once

#include "common/machine/machine.h"

struct future {
    struct future *next; /* in the queue of a rank that is busy */
    uint64_t at_ns, sequence;
    unsigned rank;         /* to whom */
    bool wake;             /* the rank is no longer busy: it takes the next event of its queue */
    bool dropped;          /* it will not happen after all */
    bool lost;             /* STORED; FAILURE: it ends the process that computes it */
    bool over;             /* the fault is */
    bool outcast;          /* not an event: the rank learns that it was dropped */
    unsigned fault_plus_1; /* not an event: this fault of the configuration */
    enum event_type type;
    unsigned from;        /* MESSAGE, LOST; STORED: who sent the results */
    unsigned char *bytes; /* MESSAGE: encoded, owned */
    size_t size;
    void *data;          /* MESSAGE: data payload; STORED: what is still to be written; owned */
    uint64_t generation; /* MARK, SLICE, FAILURE, FINISHED: of the running chunk; TIMER: of the deadline */
    uint64_t done;       /* MARK, SLICE, FAILURE, FINISHED: iterations of the chunk behind it */
    struct part part;    /* STORED */
    const char *text;
};

/* Frees what it owns. */
void future_release(struct future *future);

struct heap {
    struct future *items; /* owned */
    size_t length, capacity;
    uint64_t sequence;
};

/* Schedules; takes over what `future` owns. -1 when memory is out. */
int heap_push(struct heap *heap, const struct future *future);

/* The earliest; false when nothing will happen any more. The caller takes over what it owns. */
bool heap_pop(struct heap *heap, struct future *future);
/* What the rank computes takes so many times as long from `now_ns` on. */
void heap_slow(struct heap *heap, unsigned rank, uint64_t now_ns, double factor);
void heap_fini(struct heap *heap);
