/* SPDX-License-Identifier: MIT */
/* Peers whose process nobody here can watch: see pulse.c. */
#pragma once

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct runtime;

struct beating {
    bool is_far;  /* to be watched here, if at all */
    bool watched; /* beats go there and are expected from there */
    bool heard;   /* it has come up */
    bool ended, taken;
    bool has_left;   /* in order */
    bool lost;       /* so it seems */
    bool is_outcast; /* it is to be told that it was taken for lost */
    unsigned char sent;
    unsigned missed;
    MPI_Request request;
};

struct pulse {
    MPI_Comm world;
    unsigned ranks;
    struct beating *peers; /* [ranks], owned; NULL: the kernel tells of all */
    unsigned ended;        /* peers that have ended and were not taken */
    bool is_outcast;       /* somebody has taken this rank for lost */
    unsigned char received;
    MPI_Request receive;
    uint64_t due_ns;
    bool is_on; /* there is a thread */
    pthread_t thread;
    pthread_mutex_t turn; /* held by who uses MPI */
    int stop;
};

/* After watch_peers(). -1 when memory or threads are out. */
int pulse_init(struct pulse *pulse, const struct runtime *runtime);
/* From now on one thread uses MPI. */
void pulse_stop(struct pulse *pulse);
void pulse_fini(struct pulse *pulse);

/* From now on `rank` is watched, too, if it is not watched elsewhere. */
void pulse_begin(struct pulse *pulse, unsigned rank);

/* Takes and sends beats when that is due; cheap when not. */
void pulse_look(struct pulse *pulse, uint64_t now_ns);
/* The peer, if it is watched, has ended. */
void pulse_note(struct pulse *pulse, unsigned rank);
/* The peer is taken for lost for another reason: it is told so at its next beat, and has ended and is taken. */
void pulse_cast_out(struct pulse *pulse, unsigned rank);
/* A peer that has left or missed too many beats, each once. */
bool pulse_take(struct pulse *pulse, unsigned *rank);
/* The last beats, of a rank that goes without waiting for the others. */
void pulse_leave(struct pulse *pulse);

/* A message came from there. */
static inline void pulse_heard(struct pulse *pulse, unsigned rank)
{
    if (pulse->peers == NULL)
        return;
    pulse->peers[rank].heard = true;
    pulse->peers[rank].missed = 0;
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
