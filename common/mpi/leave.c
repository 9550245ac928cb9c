/* SPDX-License-Identifier: MIT */
/* Handles departures that no message announces. A peer departs when its process ends. This rank departs if other ranks
 * have declared it lost, or if the supermaster was lost. */
#include "common/mpi/driver.h"

#include "common/machine/topology.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/os/say.h"

#include <assert.h>
#include <stdio.h>

static _Noreturn void exit_fenced(struct runtime *runtime, const char *why)
{
    say(stderr, "%s: rank %u: %s, and leaves", role_name(runtime->role), runtime->rank, why);
    runtime_exit_alone(runtime);
}

static _Noreturn void exit_orphaned(struct link *link, bool in_order)
{
    struct runtime *runtime = link->runtime;
    const unsigned supermaster = runtime->topology.supermaster;
    runtime->ops->abandon(runtime);
    if (in_order)
        runtime->ops->end_process(EXIT_STATUS_DONE);
    if (runtime->ops->claim_report(runtime)) {
        if (link->drivers != NULL && link->drivers->effects->tell_ran != NULL)
            doorbell_tell_ran(&runtime->doorbell, link->drivers->effects->tell_ran);
        say(stderr, "%s: rank %u: the supermaster (rank %u) was lost: the run ends", role_name(runtime->role),
            runtime->rank, supermaster);
        fflush(stderr);
        runtime_abort(runtime, EXIT_STATUS_FAILED);
    }
    runtime->ops->end_process(EXIT_STATUS_FAILED);
}

/* After LAST_LOOKS checks in a row without a message, all messages of an ended peer have been taken. LAST_LOOKS_MAX and
 * LAST_LOOKS_NS limit the checks, because this rank does nothing else during them. Without a limit they might take
 * long: other ranks may go on sending results that are slow to store. LAST_LOOKS_NS limits the checks for all ended
 * peers together. */
#define LAST_LOOKS     32
#define LAST_LOOKS_MAX 4096
#define LAST_LOOKS_NS  1000000000u

static void take_last_messages(struct link *link, uint64_t until_ns)
{
    unsigned empty = 0;
    link->far.is_full = false;
    for (unsigned looks = 0; empty < LAST_LOOKS && looks < LAST_LOOKS_MAX && link->ops->now() < until_ns; looks++) {
        bool any = link_receive(link, 1);
        any |= link_receive_data(link);
        empty = any ? 0 : empty + 1;
    }
}

/* Before this rank reports the loss of a peer, it takes the last messages of that peer. These messages may tell the
 * machine of the loss first. */
void link_look_at_peers(struct link *link)
{
    struct runtime *runtime = link->runtime;
    const uint64_t until_ns = link->now_ns + LAST_LOOKS_NS;
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
        take_last_messages(link, until_ns);
        if (!link_runs(link) || peers_state(&runtime->peers, ended) != PEER_CLOSED)
            continue;
        if (ended == runtime->topology.supermaster)
            exit_orphaned(link, in_order);
        link_close_peer(link, ended, in_order);
    }
}
