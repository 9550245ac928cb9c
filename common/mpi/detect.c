/* SPDX-License-Identifier: MIT */
/* Common part of all detectors of ended ranks: decides whether the end of a rank concerns this rank, and reports it to
 * the table of peers (peers.c). There are three detectors: the system reports processes of this node (watch.c), missing
 * heartbeats show that other ranks have ended (heartbeat.c), and the MPI library may report any rank (ulfm.c).
 * ops_mpi.c calls the detectors. */
#include "common/mpi/detect.h"

#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "proto/message.h"

/* Ranks that depend on each other watch each other: the supermaster and the masters, and a worker and the rank that
 * serves it. On the same node watching costs no messages, so each worker also watches the supermaster. If workers
 * exchange boundary data, the workers of a node also watch each other, because MPI never completes a send to a dead
 * rank. Without a supermaster (--dca), rank 0 watches all others and they watch rank 0. */
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

void detect_end(struct runtime *runtime, unsigned rank)
{
    bool in_order = doorbell_reaches(&runtime->doorbell, rank) && doorbell_has_left(&runtime->doorbell, rank);
    peers_move(&runtime->peers, rank, in_order ? PEER_LEAVES : PEER_DIES);
}
