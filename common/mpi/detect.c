/* SPDX-License-Identifier: MIT */
/* Two functions that all detectors of a real rank call: one says whether the end of a rank concerns this one, the other
 * reports it. The kernel tells of processes of this node (watch.c), beats of the others (heartbeat.c), the MPI library
 * of any (ulfm.c). All of them report to the table of peers (peers.c), through detect_end(). ops_mpi.c asks them. */
#include "common/mpi/detect.h"

#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "proto/message.h"

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

void detect_end(struct runtime *runtime, unsigned rank)
{
    bool in_order = doorbell_reaches(&runtime->doorbell, rank) && doorbell_has_left(&runtime->doorbell, rank);
    peers_move(&runtime->peers, rank, in_order ? PEER_LEAVES : PEER_DIES);
}
