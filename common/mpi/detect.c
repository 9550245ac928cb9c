/* SPDX-License-Identifier: MIT */
/* The detectors of a real rank. The kernel tells of processes of this node (watch.c), beats of the others
 * (heartbeat.c), the MPI library of any (ulfm.c). All of them report to the table of peers (peers.c), through
 * detect_end(). */
#include "common/mpi/detect.h"

#include "common/mpi/peers.h"
#include "common/mpi/pulse.h"
#include "common/mpi/rank.h"
#include "common/mpi/rouse.h"
#include "common/mpi/runtime.h"
#include "common/mpi/ulfm.h"
#include "common/mpi/watch.h"
#include "proto/message.h"

#include <assert.h>

/* Ranks that depend on each other watch each other: the supermaster and the masters, a worker and the rank that serves
 * it. On this node watching costs no message, and each worker also watches the supermaster and, where workers exchange
 * boundary data, the other workers: MPI never completes what is sent to a dead one. Among workers alone (--dca) rank 0
 * serves all others. */
bool detect_concerns(const struct runtime *runtime, unsigned rank)
{
    const enum role own = runtime->role, other = runtime->hellos[rank].role;
    if (rank == runtime->rank)
        return false;
    if (runtime->hellos[rank].dca)
        return runtime->rank == 0 || rank == 0;
    if (own != ROLE_WORKER)
        return other == ROLE_WORKER ? runtime_master_of(runtime, rank) == runtime->rank
                                    : own == ROLE_SUPERMASTER || other == ROLE_SUPERMASTER;
    if (rank == runtime_master_of(runtime, runtime->rank))
        return true;
    bool is_seen = doorbell_reaches(&runtime->doorbell, rank) && !runtime->is_blind;
    return is_seen && (other == ROLE_SUPERMASTER || (runtime->exchanges && other == ROLE_WORKER));
}

/* Looks that a peer which is watched from now on has for its first beat. A worker whose master is lost beats to the
 * supermaster once it knows that. On another node than the master it learns it from silence, and so much later than a
 * supermaster to which the kernel has told of the master's end, or which takes the master for lost itself. */
static unsigned looks_for_first_beat(const struct runtime *runtime, unsigned rank)
{
    const bool is_orphan = runtime->role == ROLE_SUPERMASTER && runtime->hellos[rank].role == ROLE_WORKER;
    const bool knows_by_silence =
        !is_orphan || heartbeat_is_silent(&runtime->heartbeat, runtime_master_of(runtime, rank));
    return knows_by_silence ? MAY_MISS : MAY_MISS_AS_ORPHAN;
}

void detect_watch(struct runtime *runtime, unsigned rank)
{
    assert(rank != runtime->rank);
    if (!peers_move(&runtime->peers, rank, PEER_WATCH))
        return;
    watch_begin(&runtime->watch, rank);
    heartbeat_expect(&runtime->heartbeat, rank, looks_for_first_beat(runtime, rank)); /* from now on */
}

void detect_all(struct runtime *runtime)
{
    for (unsigned i = runtime->first_rank; i < runtime->ranks; i++)
        if (detect_concerns(runtime, i))
            detect_watch(runtime, i);
}

int detect_begin(struct runtime *runtime)
{
    assert(runtime->peers.state == NULL);
    if (peers_init(&runtime->peers, runtime->ranks) < 0 || watch_init(&runtime->watch, runtime) < 0)
        return -1;
    detect_all(runtime);
    assert(peers_check(&runtime->peers));
    if (runtime->lanes == NULL)
        ulfm_begin(runtime->world);
    return heartbeat_init(&runtime->heartbeat, runtime);
}

void detect_end(struct runtime *runtime, unsigned rank)
{
    bool in_order = doorbell_reaches(&runtime->doorbell, rank) && doorbell_has_left(&runtime->doorbell, rank);
    peers_move(&runtime->peers, rank, in_order ? PEER_LEAVES : PEER_DIES);
}

void detect_look(struct runtime *runtime, uint64_t now_ns)
{
    watch_ask(&runtime->watch, now_ns);
    ulfm_look(runtime, now_ns);
    heartbeat_look(&runtime->heartbeat, now_ns);
    rouse_look(runtime, now_ns);
}
