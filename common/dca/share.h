/* SPDX-License-Identifier: MIT */
/* Shares a loop by DCA among the workers of a flat launch or the ranks of a program that uses the library.
 *
 * A transport implements the actions of machine.h. The program around it (the host) provides the rest, above all how a
 * rank waits. This code knows nothing of kernels, results or command lines. */
#pragma once

#include "common/carrier/carrier.h"
#include "common/dca/machine.h"
#include "common/metrics/report.h"
#include "common/util/ranges.h"

struct share;

struct transport {
    enum report_topology topology;
    size_t own_bytes;
    /* Creates windows and communicators. If it fails, close() is still called. */
    int (*open)(struct share *share);
    /* Draws the next chunk, relative to the loop's beginning; false: none is left. NULL: dca_machine_draw() draws. */
    bool (*draw)(struct share *share, struct range *chunk);
    /* Serves requests of other ranks; returns whether there was one. NULL: there are none. */
    bool (*serve)(struct share *share);
    /* Called about once per millisecond; may be NULL. */
    void (*look)(struct share *share, uint64_t now_ns);
    /* True if another rank wants part of this one's chunk: one load. NULL: never. */
    bool (*wanted)(const struct share *share);
    /* Ends this rank's drawing: returns when no rank needs it any more. May be NULL. */
    void (*finish)(struct share *share);
    /* Returns the iterations drawn so far, for the progress line of rank 0; may be NULL. */
    uint64_t (*drawn)(struct share *share);
    void (*close)(struct share *share);
};

extern const struct transport transport_rma, transport_two_sided, transport_node;

struct share_host {
    /* Called while nothing has arrived; sleeps after a moment, and calls `poll` once more before that. */
    void (*idle)(struct share *share, bool (*poll)(void *context), void *context);
    /* Something has arrived: the next wait begins with polling again. */
    void (*happened)(struct share *share);
    /* The following call may take a while and does not belong to the computation. */
    void (*pause)(struct share *share);
    /* A message was sent to `rank`, which may sleep. */
    void (*sent)(struct share *share, unsigned rank);
    /* Waits or sleeps for --inject-delay; may be NULL. */
    void (*delay)(struct share *share, uint64_t ns);
    void (*nap)(struct share *share, uint64_t ns);
    /* Called repeatedly during long waits: handles signals, and may stop the run. NULL without recall. */
    void (*look)(struct share *share);
    void (*yield)(void);
};

struct share {
    const struct transport *transport;
    const struct share_host *host;
    void *context;
    carrier_comm world, node; /* world: the sharing ranks; node: those that share memory with this one */
    unsigned rank, ranks, nodes;
    bool cores_are_free; /* each rank of this node can have a core of its own */
    struct dca_core core;
    struct dca_machine machine;
    struct dca_counters counters;
    const struct sched_spec *node_technique;
    uint64_t calculation_ns, assignment_ns;
    struct error *error;
    bool failed;
    bool recall; /* idle ranks of a node get what others have not begun */
    uint64_t refills, messages, bytes;
    uint64_t recalls, recalled; /* how often this rank gave up iterations, and how many */
    void *own;                  /* of the transport; owned */
    bool open;
};

int share_prepare(struct share *share);
int share_open(struct share *share);
/* Collective if the share is open; otherwise only releases the memory. */
void share_close(struct share *share);

/* Draws the next chunk, relative to the loop's beginning. False: none is left, or a draw failed. */
static inline bool share_draw(struct share *share, struct range *chunk)
{
    if (share->transport->draw != NULL)
        return share->transport->draw(share, chunk);
    return dca_machine_draw(&share->machine, &share->counters, chunk);
}

/* True if another rank of the node is idle and share_give() may help; for a check between two iterations. */
static inline bool share_is_wanted(const struct share *share)
{
    return share->recall && share->transport->wanted(share);
}

static inline void share_give(struct share *share, struct range (*cut)(void *context), void *context)
{
    uint64_t given = dca_machine_give(&share->machine, &share->counters, cut, context);
    share->recalls += given > 0;
    share->recalled += given;
}

static inline void share_stop(struct share *share)
{
    dca_machine_stop(&share->machine, &share->counters);
}

/* In rma.c: the counters in a window of rank 0, for rma and node. */
struct window {
    carrier_window counters, measured; /* measured: 0 if nothing is learned */
    struct share *share;
    bool quick; /* a draw is a single fetch-and-add on the steps */
};

void window_open(struct window *window, struct share *share);
void window_close(struct window *window);
struct dca_counters window_counters(struct window *window);
