/* SPDX-License-Identifier: MIT */
/* Heartbeats, for peers whose processes this rank cannot watch: see heartbeat.c. */
#pragma once

#include "common/mpi/ops.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct runtime;

struct beat {
    bool is_far;
    unsigned char sent;
    unsigned may_miss;
    carrier_request request;
};

struct heartbeat {
    struct runtime *runtime;
    struct beat *beats;
    bool is_fenced;
    unsigned char received;
    carrier_request receive;
    uint64_t due_ns;
    bool is_on;
    pthread_t thread;
    pthread_mutex_t turn; /* held by the thread that uses MPI or the table of peers */
    int stop;
};

/* A peer is declared lost after this many checks in a row without a message from it. */
#define MAY_MISS 10
/* Replaces MAY_MISS until the first message from the peer has arrived. The peer may need time to connect to all its
 * receivers. */
#define MAY_MISS_AT_START 30
/* Replaces MAY_MISS for a worker of a lost master. The worker must first notice that the master's heartbeats are
 * missing. */
#define MAY_MISS_AS_ORPHAN (MAY_MISS_AT_START + 4)

/* Must be called after the first peers are watched. If the system can watch all peers, there are no heartbeats and
 * `beats` stays NULL. Returns -1 if memory or threads run out. */
int heartbeat_init(struct heartbeat *heartbeat, struct runtime *runtime);
/* Ends the heartbeat thread. Afterwards only the rank's own thread uses MPI. */
void heartbeat_stop(struct heartbeat *heartbeat);
void heartbeat_fini(struct heartbeat *heartbeat);

/* Receives heartbeats, sends those that are due, and reports peers that have left or are silent. Returns at once if
 * nothing is due. */
void heartbeat_look(struct heartbeat *heartbeat, uint64_t now_ns);
void heartbeat_leave(struct heartbeat *heartbeat);

static inline void heartbeat_expect(struct heartbeat *heartbeat, unsigned rank, unsigned looks)
{
    if (heartbeat->beats != NULL)
        heartbeat->beats[rank].may_miss = looks;
}

static inline bool heartbeat_is_silent(const struct heartbeat *heartbeat, unsigned rank)
{
    return heartbeat->beats != NULL && heartbeat->beats[rank].is_far && heartbeat->beats[rank].may_miss == 0;
}

static inline void heartbeat_heard(struct heartbeat *heartbeat, unsigned rank)
{
    heartbeat_expect(heartbeat, rank, MAY_MISS);
}

static inline bool heartbeat_is_through(struct heartbeat *heartbeat, const struct runtime_ops *ops, unsigned rank)
{
    return heartbeat->beats == NULL || ops->is_sent(&heartbeat->beats[rank].request);
}

/* Called around slow operations that do not use MPI. Between release and retake the heartbeat thread may use MPI. */
static inline void heartbeat_release(struct heartbeat *heartbeat)
{
    if (heartbeat->is_on)
        pthread_mutex_unlock(&heartbeat->turn);
}

static inline void heartbeat_retake(struct heartbeat *heartbeat)
{
    if (heartbeat->is_on)
        pthread_mutex_lock(&heartbeat->turn);
}
