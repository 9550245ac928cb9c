/* SPDX-License-Identifier: MIT */
/* Another process may take the place of a lost worker of a set: see take_back() in start.c.
 *
 * If a job was announced before the return, it continues without the worker: for the job's machine the worker stays
 * lost. The worker also takes no part in a loop whose workers exchange boundary data, because only the supermaster
 * knows of the return. */
#include "common/mpi/driver.h"

#include "common/machine/topology.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"

#include <stdlib.h>

#define LOOK_NS 20000000u

static void take_in(struct link *link, unsigned rank)
{
    link->returns.since[rank] = link->announcements.newest + 1;
    peers_move(&link->runtime->peers, rank, PEER_RETURN);
    link->ops->watch(link->runtime, rank);
}

static bool look_for_return(struct link *link, unsigned rank)
{
    if (peers_state(&link->runtime->peers, rank) != PEER_LOST)
        return false;
    /* Some sends to the lost process are not finished yet. They will be given up soon. */
    if (net_knows(&link->net, rank))
        return true;
    const enum comeback comeback = link->runtime->take_back(link->runtime, rank);
    if (comeback == COMEBACK_DONE)
        take_in(link, rank);
    return comeback == COMEBACK_AWAITED;
}

void link_look_for_returns(struct link *link)
{
    const struct topology *topology = &link->runtime->topology;
    struct returns *returns = &link->returns;
    if (link->now_ns < returns->due_ns)
        return;
    if (returns->since == NULL)
        returns->since = calloc(link->runtime->ranks, sizeof *returns->since);
    const bool may_return = returns->since != NULL && link->announcements.end == 0;
    returns->due_ns = link->now_ns + LOOK_NS;
    returns->are_awaited = false;
    for (unsigned w = 0; may_return && w < topology->workers; w++)
        returns->are_awaited |= look_for_return(link, topology->worker_rank[w]);
}
