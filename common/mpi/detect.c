/* SPDX-License-Identifier: MIT */
/* What all detectors of ended ranks share: whether a rank's end concerns this rank, and how it is reported. The system
 * reports processes of this node (watch.c), heartbeats report the others (heartbeat.c), and the MPI library reports any
 * rank (ulfm.c). All report to the table of peers (peers.c) through detect_end(); ops_mpi.c calls the detectors. */
#include "common/mpi/detect.h"

#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "proto/message.h"

/* Ranks that depend on each other watch each other: supermaster and masters, a worker and the rank that serves it. On
 * the same node watching costs no messages, so each worker also watches the supermaster and, if workers exchange
 * boundary data, the other workers, because MPI never completes a send to a dead rank. Without a supermaster (--dca),
 * rank 0 watches all others and they watch rank 0. */
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
