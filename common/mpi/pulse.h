/* SPDX-License-Identifier: MIT */
/* Peers whose process nobody here can watch: see heartbeat.c. */
#pragma once

#include "common/mpi/ops.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct runtime;

/* Heartbeats to and from one peer. */
struct beat {
    bool is_far;             /* beats are exchanged while it is watched */
    unsigned char sent;      /* kind of the latest beat */
    unsigned may_miss;       /* looks that may still pass before the peer is taken for silent */
    carrier_request request; /* request of the latest beat */
};

struct heartbeat {
    struct runtime *runtime; /* borrowed */
    struct beat *beats;      /* [ranks], owned; NULL: the kernel tells of all */
    bool is_fenced;          /* true where this rank was taken for lost */
    unsigned char received;
    carrier_request receive;
    uint64_t due_ns;
    bool is_on; /* the thread runs */
    pthread_t thread;
    pthread_mutex_t turn; /* held by the thread that uses MPI, and the table of peers */
    int stop;
};

/* Looks that may pass without a message before a peer is taken for silent. */
#define MAY_MISS 10
/* Before it was heard of: it has said hello, but connects to everybody it sends something to, first. */
#define MAY_MISS_AT_START 30
/* Of a worker whose master is lost: it has to miss the master's beats first, in its own looks. */
#define MAY_MISS_AS_ORPHAN (MAY_MISS_AT_START + 4)

/* Begins, after all peers that are watched from the start are. -1 when memory or threads are out. */
int heartbeat_init(struct heartbeat *heartbeat, struct runtime *runtime);
/* Stops the thread: only the rank's own uses MPI from now on. */
void heartbeat_stop(struct heartbeat *heartbeat);
void heartbeat_fini(struct heartbeat *heartbeat);

/* Takes and sends beats when that is due, and reports ranks that have left or are silent; cheap when not. */
void heartbeat_look(struct heartbeat *heartbeat, uint64_t now_ns);
/* Sends the last beats, for a rank that goes without waiting for the others. */
void heartbeat_leave(struct heartbeat *heartbeat);

/* Gives a peer so many looks for its next message. */
static inline void heartbeat_expect(struct heartbeat *heartbeat, unsigned rank, unsigned looks)
{
    if (heartbeat->beats != NULL)
        heartbeat->beats[rank].may_miss = looks;
}

/* True where a peer was taken for silent. */
static inline bool heartbeat_is_silent(const struct heartbeat *heartbeat, unsigned rank)
{
    return heartbeat->beats != NULL && heartbeat->beats[rank].is_far && heartbeat->beats[rank].may_miss == 0;
}

/* Notes that a message came from `rank`. */
static inline void heartbeat_heard(struct heartbeat *heartbeat, unsigned rank)
{
    heartbeat_expect(heartbeat, rank, MAY_MISS);
}

/* True where no beat to `rank` is still on its way out. */
static inline bool heartbeat_is_through(struct heartbeat *heartbeat, const struct runtime_ops *ops, unsigned rank)
{
    return heartbeat->beats == NULL || ops->is_sent(&heartbeat->beats[rank].request);
}

/* Lets the thread use MPI, around what may take long and uses no MPI. */
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
