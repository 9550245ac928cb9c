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
    _Atomic uint32_t left; /* the rank has left in order, perhaps without waiting for the others */
    _Atomic uint32_t reported;
    _Atomic uint32_t fenced;
    /* The tasks that the rank began last. They are printed if the supermaster is lost. If the count is 0, the rank has
     * begun no task. */
    _Atomic uint64_t ran_first, ran_count;
    char pad[32];
    struct span span;
};

struct bells {
    _Atomic uint32_t mapped;
    _Atomic uint32_t deaf; /* 1: the socket of a living rank was removed, so nothing can wake that rank */
    char pad[56];
    struct bell bell[];
};

struct doorbell {
    struct bells *shared;
    struct bell *bells;
    bool is_in_lanes;
    /* [ranks] index of each rank among the ranks of this node; -1: the rank is on another node; owned */
    int *node_index;
    int own;
    int node_ranks;
    int socket;
    char folder[FOLDER_MAX];
};

/* Collective on the node; each rank waits only for the first rank of the node. On failure `error` is empty if another
 * rank prints the reason. */
int doorbell_init(struct doorbell *doorbell, struct runtime *runtime, struct error *error);
void doorbell_fini(struct doorbell *doorbell);

/* For the first rank of a launch without MPI, if a lost worker has returned as a new process. doorbell_show_room()
 * sends the new process, on its lane, the same bytes that doorbell_init() has sent to all others. The lane must have
 * room for doorbell_room_bytes(). */
size_t doorbell_room_bytes(void);
void doorbell_show_room(const struct doorbell *doorbell, const struct runtime *runtime, unsigned rank);

/* Wakes `rank` if it sleeps and is on this node. Makes no system call if it is awake. */
void doorbell_ring(struct doorbell *doorbell, unsigned rank);

bool doorbell_is_deaf(const struct doorbell *doorbell);
void doorbell_set_sleeping(struct doorbell *doorbell, bool sleeping);
bool doorbell_reaches(const struct doorbell *doorbell, unsigned rank);

/* Announces that this rank leaves in order. The others then do not count it as lost, even if it does not wait for them.
 */
void doorbell_leave(struct doorbell *doorbell);
/* For a rank that cannot continue: removes its socket. If no other socket is left, removes the folder too. */
void doorbell_abandon(struct doorbell *doorbell);
bool doorbell_has_left(const struct doorbell *doorbell, unsigned rank);
void doorbell_fence(struct doorbell *doorbell, unsigned rank);
static inline bool doorbell_is_fenced(const struct doorbell *doorbell)
{
    return atomic_load_explicit(&doorbell->bells[doorbell->own].fenced, memory_order_relaxed) != 0;
}
void doorbell_renew(struct doorbell *doorbell, unsigned rank);
void doorbell_note_ran(struct doorbell *doorbell, const struct range *range);
void doorbell_tell_ran(const struct doorbell *doorbell, void (*tell)(const struct range *range));
/* Returns NULL if the rank is on another node. */
struct span *doorbell_span(const struct doorbell *doorbell, unsigned rank);
/* Returns true in exactly one rank of the node, which then prints that `rank` was lost. */
bool doorbell_claim_report(struct doorbell *doorbell, unsigned rank);
