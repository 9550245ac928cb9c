/* SPDX-License-Identifier: MIT */
/* Sharing a loop by DCA, whoever the ranks belong to: the workers of a flat launch, or a program that uses the library.
 *
 * A transport is one way of doing the actions of machine.h. What it needs of the program around it, above all how a
 * rank waits, is the host's. Nothing here knows kernels, results or command lines. */
#pragma once

#include "common/carrier/carrier.h"
#include "common/dca/machine.h"
#include "common/metrics/report.h"
#include "common/util/ranges.h"

struct share;

/* A way to share the loop. open() and close() are called by all ranks together. */
struct transport {
    enum report_topology topology;
    size_t own_bytes; /* bytes that the transport keeps at share->own */
    /* Makes windows and communicators. -1 with one line in share->error; close() comes all the same. */
    int (*open)(struct share *share);
    /* Draws the next chunk, from the loop's beginning. False: no chunk is left. NULL: as the machine draws it. */
    bool (*draw)(struct share *share, struct range *chunk);
    /* Looks after the others' requests; returns whether one came. NULL: nobody asks this rank. */
    bool (*serve)(struct share *share);
    /* Called about once in a millisecond; NULL: nothing to do then. */
    void (*look)(struct share *share, uint64_t now_ns);
    /* True if another rank wants what this one has not begun of its chunk: one load. NULL: nobody ever does. */
    bool (*wanted)(const struct share *share);
    /* Ends this rank's drawing: returns when nobody needs it. NULL: at once. */
    void (*finish)(struct share *share);
    /* Iterations drawn so far, for the progress line of rank 0; NULL: not to be had. */
    uint64_t (*drawn)(struct share *share);
    void (*close)(struct share *share);
};

extern const struct transport transport_rma, transport_two_sided, transport_node;

/* The transport's view of the program around it. */
struct share_host {
    /* Called while this rank waits and nothing has come yet; sleeps after a moment. `poll` is called once more before
     * the rank sleeps. */
    void (*idle)(struct share *share, bool (*poll)(void *context), void *context);
    /* Called when something has come: the next wait begins anew. */
    void (*happened)(struct share *share);
    /* The following call may take a while and is not the computation's. */
    void (*pause)(struct share *share);
    /* A message has gone to `rank`, which may sleep. */
    void (*sent)(struct share *share, unsigned rank);
    /* Lets so much time pass, and sleeps so long: for --inject-delay; NULL where there is none. */
    void (*delay)(struct share *share, uint64_t ns);
    void (*nap)(struct share *share, uint64_t ns);
    /* Called again and again while this rank waits for long: looks after signals, and may stop the run. NULL where
     * recall is off. */
    void (*look)(struct share *share);
    /* Gives the core to another rank, if one wants it. */
    void (*yield)(void);
};

struct share {
    const struct transport *transport;
    const struct share_host *host;
    void *context;            /* the host's */
    carrier_comm world, node; /* world: the sharing ranks; node: those of them with whom this rank shares memory */
    unsigned rank, ranks, nodes;
    bool cores_are_free;        /* each rank of this node can have a core of its own */
    struct dca_core core;       /* drawing of the loop (with nodes: of big chunks) */
    struct dca_machine machine; /* the machine of this rank, which draws */
    struct dca_counters counters;
    const struct sched_spec *node_technique; /* for the node transport */
    uint64_t calculation_ns, assignment_ns;  /* --inject-delay */
    struct error *error;
    bool failed; /* a draw has failed, with a line in error */
    bool recall; /* within a node, ranks that have nothing left get what others have not begun of their chunks */
    uint64_t refills, messages, bytes;
    uint64_t recalls, recalled; /* times that this rank gave up something, and iterations that it gave up */
    void *own;                  /* the transport's, owned */
    bool open;
};

/* Memory for the transport, before all ranks together open it. -1 when memory is out. */
int share_prepare(struct share *share);
int share_open(struct share *share);
/* Collective where it is open; else only releases the memory. */
void share_close(struct share *share);

/* The next chunk, from the loop's beginning. False: there is no more, or a draw has failed. */
static inline bool share_draw(struct share *share, struct range *chunk)
{
    if (share->transport->draw != NULL)
        return share->transport->draw(share, chunk);
    return dca_machine_draw(&share->machine, &share->counters, chunk);
}

/* True if another rank of the node has nothing to do, and share_give() may help. For a look between two iterations. */
static inline bool share_is_wanted(const struct share *share)
{
    return share->recall && share->transport->wanted(share);
}

/* Gives up what has not begun of the running chunk, which `cut` cuts: see dca_machine_give(). */
static inline void share_give(struct share *share, struct range (*cut)(void *context), void *context)
{
    uint64_t given = dca_machine_give(&share->machine, &share->counters, cut, context);
    share->recalls += given > 0;
    share->recalled += given;
}

/* Ends all draws from now on. */
static inline void share_stop(struct share *share)
{
    dca_machine_stop(&share->machine, &share->counters);
}

/* rma.c: the counters in a window of rank 0, for rma and node. */
struct window {
    carrier_window counters, measured; /* measured: 0 where nothing is learned */
    struct share *share;
    bool quick; /* a draw is one fetch-and-add on the steps, and nothing else */
};

void window_open(struct window *window, struct share *share);
void window_close(struct window *window);
struct dca_counters window_counters(struct window *window);
