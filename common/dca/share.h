/* SPDX-License-Identifier: MIT */
/* Shares a loop by DCA among the workers of a flat launch or among the ranks of a program that uses the library.
 *
 * A transport implements the actions of machine.h. The program that uses it, the host, provides the rest, such as
 * waiting. This code knows nothing of kernels, results or command lines. */
#pragma once

#include "common/carrier/carrier.h"
#include "common/dca/machine.h"
#include "common/metrics/report.h"
#include "common/util/ranges.h"

struct share;

struct transport {
    enum report_topology topology;
    size_t own_bytes;
    /* Creates windows and communicators. If it fails, close() must be called too. */
    int (*open)(struct share *share);
    /* Draws the next chunk. The chunk's first iteration is counted from the beginning of the loop. Returns false if all
     * iterations are drawn. If the member is NULL, dca_machine_draw() is used. */
    bool (*draw)(struct share *share, struct range *chunk);
    /* Serves requests of other ranks. Returns true if there was a request. The member is NULL if ranks send no
     * requests. */
    bool (*serve)(struct share *share);
    /* called about once per millisecond; may be NULL */
    void (*look)(struct share *share, uint64_t now_ns);
    /* Returns true if another rank is hungry, so this rank should give up iterations. If the member is NULL, this rank
     * never gives up any. */
    bool (*wanted)(const struct share *share);
    /* Keeps serving other ranks until none of them needs this rank for its draws. May be NULL. */
    void (*finish)(struct share *share);
    uint64_t (*drawn)(struct share *share);
    void (*close)(struct share *share);
};

extern const struct transport transport_rma, transport_two_sided, transport_node;

struct share_host {
    /* Called if no message has arrived. Polls with `poll` for a short time. Then calls `poll` once more and sleeps. */
    void (*idle)(struct share *share, bool (*poll)(void *context), void *context);
    void (*happened)(struct share *share);
    void (*pause)(struct share *share);
    void (*sent)(struct share *share, unsigned rank);
    /* may be NULL */
    void (*delay)(struct share *share, uint64_t ns);
    void (*nap)(struct share *share, uint64_t ns);
    /* Called again and again during long waits. Handles signals, and may stop the run. The member is NULL if there is
     * no recall. */
    void (*look)(struct share *share);
    void (*yield)(void);
};

struct share {
    const struct transport *transport;
    const struct share_host *host;
    void *context;
    /* `world`: the ranks that share the loop. `node`: those of them that share memory with this rank. */
    carrier_comm world, node;
    unsigned rank, ranks, nodes;
    bool cores_are_free;
    struct dca_core core;
    struct dca_machine machine;
    struct dca_counters counters;
    const struct sched_spec *node_technique;
    uint64_t calculation_ns, assignment_ns;
    struct error *error;
    bool failed;
    bool recall;
    uint64_t refills, messages, bytes;
    uint64_t recalls, recalled;
    void *own; /* the transport's own data; owned */
    bool open;
};

int share_prepare(struct share *share);
int share_open(struct share *share);
/* Must be called by all ranks together if the share is open. Otherwise it only frees memory. */
void share_close(struct share *share);

/* Draws the next chunk. The chunk's first iteration is counted from the beginning of the loop. Returns false if all
 * iterations are drawn, or if the draw failed. */
static inline bool share_draw(struct share *share, struct range *chunk)
{
    if (share->transport->draw != NULL)
        return share->transport->draw(share, chunk);
    return dca_machine_draw(&share->machine, &share->counters, chunk);
}

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

struct window {
    carrier_window counters, measured;
    struct share *share;
    bool quick;
};

void window_open(struct window *window, struct share *share);
void window_close(struct window *window);
struct dca_counters window_counters(struct window *window);
