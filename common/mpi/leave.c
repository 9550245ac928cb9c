/* SPDX-License-Identifier: MIT */
/* The end of ranks that are not told to exit: peers whose process has ended, and this rank itself when it is taken for
 * lost or has lost the supermaster. */
#include "common/mpi/driver.h"

#include "common/machine/topology.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/os/say.h"

#include <assert.h>
#include <stdio.h>

/* Ends this rank, which the others took for lost while it was stopped or cut off, or for what it sent, and do
 * without. */
static _Noreturn void exit_fenced(struct runtime *runtime, const char *why)
{
    say(stderr, "%s: rank %u: %s, and leaves", role_name(runtime->role), runtime->rank, why);
    runtime_exit_alone(runtime);
}

/* Ends a rank that has lost the supermaster, as nothing is left to decide. One rank of the node says so, and has the
 * launcher end those who are not listening, because their kernel computes on. */
static _Noreturn void exit_orphaned(struct runtime *runtime, bool in_order)
{
    const unsigned supermaster = runtime->topology.supermaster;
    runtime->ops->abandon(runtime);
    if (in_order)
        runtime->ops->end_process(EXIT_STATUS_DONE); /* the supermaster has waited for this rank long enough */
    if (runtime->ops->claim_report(runtime)) {
        say(stderr, "%s: rank %u: the supermaster (rank %u) was lost: the run ends", role_name(runtime->role),
            runtime->rank, supermaster);
        fflush(stderr);
        runtime_abort(runtime, EXIT_STATUS_FAILED);
    }
    runtime->ops->end_process(EXIT_STATUS_FAILED);
}

/* Number of looks without a message after which all that a peer has sent counts as taken; and of all looks, as others
 * go on sending. */
#define LAST_LOOKS     32
#define LAST_LOOKS_MAX 4096

static void take_last_messages(struct link *link)
{
    unsigned empty = 0;
    link->far.is_full = false;
    for (unsigned looks = 0; empty < LAST_LOOKS && looks < LAST_LOOKS_MAX; looks++) {
        bool any = link_receive(link, 1);
        any |= link_receive_data(link);
        empty = any ? 0 : empty + 1;
    }
}

/* The process of a peer may have ended: in order, as it does where the run has lost somebody, or it is lost itself. Its
 * last messages may tell of its loss before: then the machine knows, and nothing is left to be done. */
void link_look_at_peers(struct link *link)
{
    struct runtime *runtime = link->runtime;
    unsigned ended;
    bool in_order;
    runtime->ops->look_at_peers(runtime, link->now_ns);
    const char *why_fenced = runtime->ops->fenced(runtime);
    if (why_fenced != NULL)
        exit_fenced(runtime, why_fenced);
    for (; peers_take_ended(&runtime->peers, &ended, &in_order); runtime->ops->look_at_peers(runtime, link->now_ns)) {
        assert(ended != runtime->rank);
        runtime->degraded |= runtime_has_rank(runtime, ended);
        if (runtime_has_rank(runtime, ended))
            net_look_at(&link->net, ended);
        take_last_messages(link);
        if (!link_runs(link) || peers_state(&runtime->peers, ended) != PEER_CLOSED)
            continue;
        if (ended == runtime->topology.supermaster)
            exit_orphaned(runtime, in_order);
        link_close_peer(link, ended, in_order);
    }
}
