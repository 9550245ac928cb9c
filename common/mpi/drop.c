/* SPDX-License-Identifier: MIT */
/* Two ways to give up. A rank that cannot continue prints why and ends the run. A rank that cannot rely on another rank
 * declares the other rank lost; step.c handles the consequences. All other files of the link may call this file, so
 * this file itself calls only far_send.c. */
#include "common/mpi/driver.h"

#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/os/say.h"
#include "proto/message.h"

#include <stdio.h>

void link_give_up(struct link *link, const char *text)
{
    say(stderr, "%s: rank %u: %s", role_name(link->runtime->role), link->runtime->rank, text);
    link->is_broken = true;
    runtime_abort(link->runtime, EXIT_STATUS_FAILED);
}

void link_drop(struct link *link, unsigned rank, const char *text)
{
    struct runtime *runtime = link->runtime;
    bool is_supermaster = rank == runtime->topology.supermaster;
    if (!peers_can_receive(&runtime->peers, rank))
        return;
    say(stderr, "%s: rank %u: %s rank %u %s: %s", role_name(runtime->role), runtime->rank,
        role_name(runtime_role_of(runtime, rank)), rank, text,
        is_supermaster ? "this rank leaves" : "it is taken for lost");
    if (is_supermaster)
        runtime_exit_alone(runtime);
    peers_move(&runtime->peers, rank, PEER_FENCE);
    if (!runtime_has_rank(runtime, rank)) {
        far_drop(link, rank);
        return;
    }
    runtime->degraded = true;
    runtime->ops->fence(runtime, rank);
}
