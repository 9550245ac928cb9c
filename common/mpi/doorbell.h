/* SPDX-License-Identifier: MIT */
/* Wakes sleeping ranks of the same node: see doorbell.c. */
#pragma once

#include "common/machine/span.h"
#include "common/mpi/folder.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct runtime;

struct bell {
    _Atomic uint32_t sleeping;
    _Atomic uint32_t left;     /* the rank has ended in order, possibly without waiting for the others */
    _Atomic uint32_t reported; /* the rank's loss is or will be reported */
    _Atomic uint32_t fenced;   /* the rank was declared lost and must leave */
    /* The latest tasks that the rank has begun, for whoever reports the loss of the supermaster; 0: none. */
    _Atomic uint64_t ran_first, ran_count;
    char pad[32]; /* one cache line each */
    struct span span;
};

/* Shared by the ranks of a node. */
struct bells {
    _Atomic uint32_t mapped; /* number of ranks that have mapped it */
    _Atomic uint32_t deaf;   /* 1: the socket of a live rank was missing, so sleepers may not be woken */
    char pad[56];
    struct bell bell[]; /* [ranks of the node] */
};

struct doorbell {
    struct bells *shared; /* mapped; NULL: not yet */
    struct bell *bells;   /* [ranks of the node], in `shared` */
    bool is_in_lanes;     /* `shared` is memory of the lanes */
    int *node_index;      /* [ranks] index on this node, -1 elsewhere; owned */
    int own;
    int node_ranks;
    int socket;
    char folder[FOLDER_MAX]; /* with the sockets */
};

/* Collective on the node; waits only for the first rank. The error is empty if another rank reports it. */
int doorbell_init(struct doorbell *doorbell, struct runtime *runtime, struct error *error);
void doorbell_fini(struct doorbell *doorbell);

/* For the first rank of a launch without MPI: tells a rank that has returned, by its lane, what doorbell_init() told
 * all. The lane has room for the bytes. */
size_t doorbell_room_bytes(void);
void doorbell_show_room(const struct doorbell *doorbell, const struct runtime *runtime, unsigned rank);

/* Wakes `rank` if it sleeps and is on this node. No system call if it is awake. */
void doorbell_ring(struct doorbell *doorbell, unsigned rank);

/* True after a live rank of this node could not be woken because its socket was removed. */
bool doorbell_is_deaf(const struct doorbell *doorbell);
void doorbell_set_sleeping(struct doorbell *doorbell, bool sleeping);
bool doorbell_reaches(const struct doorbell *doorbell, unsigned rank);

/* For a rank that leaves without waiting for the others, so that it does not count as lost. */
void doorbell_leave(struct doorbell *doorbell);
/* For a rank that cannot continue: removes its socket, and the folder if it is the last. */
void doorbell_abandon(struct doorbell *doorbell);
/* True if a rank of this node has ended in order. */
bool doorbell_has_left(const struct doorbell *doorbell, unsigned rank);
/* Tells a rank of this node that it was declared lost and must leave. */
void doorbell_fence(struct doorbell *doorbell, unsigned rank);
static inline bool doorbell_is_fenced(const struct doorbell *doorbell)
{
    return atomic_load_explicit(&doorbell->bells[doorbell->own].fenced, memory_order_relaxed) != 0;
}
/* Forgets what is noted about a rank whose process has ended: another one takes its place. */
void doorbell_renew(struct doorbell *doorbell, unsigned rank);
/* Notes which tasks this rank begins. */
void doorbell_note_ran(struct doorbell *doorbell, const struct range *range);
/* Calls `tell` with the latest tasks of each rank of this node that has begun some. */
void doorbell_tell_ran(const struct doorbell *doorbell, void (*tell)(const struct range *range));
/* The running chunk of a rank of this node; NULL: the rank is elsewhere. */
struct span *doorbell_span(const struct doorbell *doorbell, unsigned rank);
/* True for exactly one rank of the node, which then reports the loss of `rank`. */
bool doorbell_claim_report(struct doorbell *doorbell, unsigned rank);
