/* SPDX-License-Identifier: MIT */
/* Peers whose process nobody here can watch: see pulse.c. */
#pragma once

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct runtime;

/* Beats to and from one peer. */
struct beat {
    bool is_far;         /* beats are exchanged while it is watched */
    unsigned char sent;  /* the kind of the latest */
    unsigned may_miss;   /* as many looks more, before it is taken for silent */
    MPI_Request request; /* of the latest */
};

struct pulse {
    struct runtime *runtime; /* borrowed */
    struct beat *beats;      /* [ranks], owned; NULL: the kernel tells of all */
    bool is_fenced;          /* somebody has taken this rank for lost */
    unsigned char received;
    MPI_Request receive;
    uint64_t due_ns;
    bool is_on; /* there is a thread */
    pthread_t thread;
    pthread_mutex_t turn; /* held by who uses MPI, and the table of peers */
    int stop;
};

/* Looks that may pass without a message before a peer is taken for silent. */
#define MAY_MISS 10

/* After all that are watched from the start are. -1 when memory or threads are out. */
int pulse_init(struct pulse *pulse, struct runtime *runtime);
/* From now on one thread uses MPI. */
void pulse_stop(struct pulse *pulse);
void pulse_fini(struct pulse *pulse);

/* Takes and sends beats when that is due, and reports who has left or is silent; cheap when not. */
void pulse_look(struct pulse *pulse, uint64_t now_ns);
/* The last beats, of a rank that goes without waiting for the others. */
void pulse_leave(struct pulse *pulse);

/* A message came from there. */
static inline void pulse_heard(struct pulse *pulse, unsigned rank)
{
    if (pulse->beats != NULL)
        pulse->beats[rank].may_miss = MAY_MISS;
}

/* Around what may take long and uses no MPI. */
static inline void pulse_release(struct pulse *pulse)
{
    if (pulse->is_on)
        pthread_mutex_unlock(&pulse->turn);
}

static inline void pulse_retake(struct pulse *pulse)
{
    if (pulse->is_on)
        pthread_mutex_lock(&pulse->turn);
}
