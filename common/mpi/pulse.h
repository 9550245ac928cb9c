/* SPDX-License-Identifier: MIT */
/* Heartbeats, for peers whose process cannot be watched from here: see heartbeat.c. */
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
    pthread_mutex_t turn; /* held by the thread that uses MPI and the table of peers */
    int stop;
};

/* A peer counts as silent after this many checks without a message. */
#define MAY_MISS 10
/* The same before the first message: a peer connects to all its receivers before it sends. */
#define MAY_MISS_AT_START 30
/* The same for a worker of a lost master, which must first miss the master's heartbeats. */
#define MAY_MISS_AS_ORPHAN (MAY_MISS_AT_START + 4)

/* Must be called after the initial peers are watched. `beats` stays NULL if the system watches all peers. -1: out of
 * memory or threads. */
int heartbeat_init(struct heartbeat *heartbeat, struct runtime *runtime);
/* Afterwards only the rank's own thread uses MPI. */
void heartbeat_stop(struct heartbeat *heartbeat);
void heartbeat_fini(struct heartbeat *heartbeat);

/* Receives and sends due heartbeats, and reports ranks that have left or are silent. Cheap if nothing is due. */
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

/* Called around slow operations that do not use MPI: the thread may use it meanwhile. */
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
