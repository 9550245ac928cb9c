/* SPDX-License-Identifier: MIT */
/* Waking a sleeping rank of the same node: see doorbell.c. */
#pragma once

#include "common/mpi/folder.h"
#include "common/util/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct runtime;

struct bell {
    _Atomic uint32_t sleeping;
    _Atomic uint32_t left;     /* the rank has ended in order, be it without the others */
    _Atomic uint32_t reported; /* the loss of the rank is told, or is being told */
    _Atomic uint32_t fenced;   /* the rank was taken for lost, and is to leave */
    char pad[48];              /* a cache line each */
};

/* Memory that the ranks of a node share. */
struct bells {
    _Atomic uint32_t mapped; /* ranks that have it */
    _Atomic uint32_t deaf;   /* 1: the socket of a rank was gone, though the rank is there; sleepers may not be woken */
    char pad[56];
    struct bell bell[]; /* [ranks of the node] */
};

struct doorbell {
    struct bells *shared; /* mapped; NULL: not yet */
    struct bell *bells;   /* [ranks of the node], in it */
    int *node_index;      /* [ranks] index on this node, -1 elsewhere; owned */
    int own;              /* own index */
    int node_ranks;
    int socket;
    char folder[FOLDER_MAX]; /* with the sockets of the node's ranks */
};

/* Makes the doorbell. Collective over the ranks of the node, which wait for none but the first of them. -1 with one
 * line where it failed; the line is empty where another rank says why. */
int doorbell_init(struct doorbell *doorbell, struct runtime *runtime, struct error *error);
void doorbell_fini(struct doorbell *doorbell);

/* Wakes `rank` if it sleeps and is on this node. No system call while it is awake. */
void doorbell_ring(struct doorbell *doorbell, unsigned rank);

/* True after a rank of this node could not be woken though it is there, as somebody has removed the sockets. */
bool doorbell_is_deaf(const struct doorbell *doorbell);
void doorbell_set_sleeping(struct doorbell *doorbell, bool sleeping);
bool doorbell_reaches(const struct doorbell *doorbell, unsigned rank);

/* For a rank that goes without waiting for the others, so that they do not take it for lost. */
void doorbell_leave(struct doorbell *doorbell);
/* For a rank that cannot go on: removes its socket, and the others if it is the last. */
void doorbell_abandon(struct doorbell *doorbell);
/* True where a rank of this node has ended in order. */
bool doorbell_has_left(const struct doorbell *doorbell, unsigned rank);
/* Tells a rank of this node that it was taken for lost, and is to leave. */
void doorbell_fence(struct doorbell *doorbell, unsigned rank);
static inline bool doorbell_is_fenced(const struct doorbell *doorbell)
{
    return atomic_load_explicit(&doorbell->bells[doorbell->own].fenced, memory_order_relaxed) != 0;
}
/* True for one rank of the node: the one to say that `rank` was lost. */
bool doorbell_claim_report(struct doorbell *doorbell, unsigned rank);
