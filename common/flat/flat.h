/* The parts of a flat run, for its own files only: the ranks, the executor, and how they share the loop. */
#pragma once

#include "common/config/flat_options.h"
#include "common/flat/core.h"
#include "common/runtime/lead.h"
#include "common/runtime/mpi/internal.h"
#include "worker/exec/inline.h"

struct flat;

/* One way of sharing the loop. open() and close() are called by all ranks together. */
struct transport {
    enum report_topology topology;
    /* Makes windows and communicators. -1 with one line in flat->lead.error; then close() is called all the same. */
    int (*open)(struct flat *flat);
    /* The next chunk, from the loop's beginning. False: there is no more. */
    bool (*draw)(struct flat *flat, struct range *chunk);
    /* Nobody draws from now on. */
    void (*stop)(struct flat *flat);
    /* Looks after the others' requests; whether there was one. NULL: nobody asks this rank. */
    bool (*serve)(struct flat *flat);
    /* About once in a millisecond; NULL: nothing to do then. */
    void (*look)(struct flat *flat, uint64_t now_ns);
    /* This rank draws no more: returns when nobody needs it. NULL: at once. */
    void (*finish)(struct flat *flat);
    /* Iterations drawn so far, for the progress line of rank 0; NULL: not to be had. */
    uint64_t (*drawn)(struct flat *flat);
    void (*close)(struct flat *flat);
};

extern const struct transport transport_rma, transport_two_sided, transport_node;

/* What each rank knows of itself at the end. */
struct flat_figures {
    uint64_t iterations, chunks, refills, compute_ns, digest, messages, bytes;
    uint64_t first_ns, finish_ns; /* since the common start; NEVER without a chunk */
    double power;
};

struct flat {
    struct lead lead;
    struct flat_options options;
    struct runtime *runtime;
    const struct topology *topology;
    unsigned rank, ranks;
    const struct transport *transport;
    double *given_speeds;  /* [ranks], rank 0, owned; NULL where they are measured */
    double *powers;        /* [ranks], owned; NULL where the technique takes none */
    struct flat_core core; /* how the loop (with nodes: how big chunks) is drawn */
    bool core_ready;
    struct flat_counters counters;
    struct exec exec;
    bool exec_open;
    struct wait wait;
    uint64_t start_ns;
    uint64_t looked_compute_ns; /* computed since the last look at the clock */
    unsigned looked_chunks;
    uint64_t next_tick_ns;
    bool serves;   /* others need this rank while it computes */
    bool stopping; /* stop() was called here */
    bool failed;   /* with lead.error */
    struct flat_figures figures;
    uint64_t calculation_ns, assignment_ns; /* --inject-delay */
    void *own;                              /* the transport's */
};

/* Ends the run here with lead.error, and for all. */
void flat_fail(struct flat *flat);

/* To be called while this rank waits for something to happen: sleeps after a moment. `poll` is called once more before
 * it does. */
void flat_idle(struct flat *flat, bool (*poll)(void *context), void *context);

/* --inject-delay assignment: only one at a time assigns, as it is the synchronised part of a draw ([DCA]), so the delay
 * passes under a lock where the counter is. A ticket lock: two words, to which `add` adds. Without a delay there is no
 * lock. */
enum flat_turn {
    FLAT_TICKET,
    FLAT_SERVING, /* 1 is added to release the lock */
    FLAT_TURNS,
};

/* Takes the lock; returns when it is this rank's. */
void flat_take_turn(struct flat *flat, uint64_t (*add)(void *self, enum flat_turn word, uint64_t amount), void *self);

/* What comes now may take a while and is not the kernel's. */
static inline void flat_pause(struct flat *flat)
{
    flat->figures.compute_ns += exec_pause(&flat->exec);
}

/* Something happened. */
static inline void flat_happened(struct flat *flat)
{
    wait_reset(&flat->wait);
}

/* rma.c: the counters in a window of rank 0, for rma and node. */
struct window {
    MPI_Win counters, measured;
    uint64_t *own_counters;
    struct flat_measured *own_measured;
    struct flat *flat;
    bool quick; /* a draw is one fetch-and-add on the steps, and nothing else */
};

void window_open(struct window *window, struct flat *flat);
void window_close(struct window *window);
struct flat_counters window_counters(struct window *window);
