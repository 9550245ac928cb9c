/* SPDX-License-Identifier: MIT */
/* Losses in a launch of workers alone, on one machine: rank 0 watches the others, and each of them watches rank 0, by
 * what detect.c has for all launches. */
#include "common/mpi/detect.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/mpi/wait.h"
#include "common/mpi/watch.h"
#include "common/os/say.h"
#include "common/util/error.h"
#include "proto/message.h"

#include <assert.h>
#include <stdio.h>
#include <unistd.h>

bool runtime_sees_all(const struct runtime *runtime)
{
    unsigned near = 0;
    for (unsigned i = 0; i < runtime->ranks; i++)
        near += doorbell_reaches(&runtime->doorbell, i);
    return near == runtime->ranks && !runtime->is_blind;
}

int runtime_watch_alone(struct runtime *runtime, struct wait *wait)
{
    assert(runtime->prepared && runtime_sees_all(runtime));
    return detect_begin(runtime) < 0 ? -1 : wait_watch(wait, &runtime->watch);
}

void runtime_claim_end(const struct runtime *runtime)
{
    while (runtime->guard.is_on && !guard_is_caller())
        pause(); /* the thread finds the same loss */
}

void runtime_abort_alone(struct runtime *runtime)
{
    runtime->ops->claim_report(runtime);
    runtime->ops->abandon(runtime);
    fflush(stderr);
    if (!guard_is_caller()) /* the other ranks have such a thread, too */
        runtime_abort(runtime, EXIT_STATUS_FAILED);
    runtime->ops->end_process(EXIT_STATUS_FAILED);
}

/* Rank 0 decided who computes what, and is gone. Ranks that do not see it are ended by the launcher. */
static _Noreturn void exit_without_leader(struct runtime *runtime)
{
    runtime_claim_end(runtime);
    if (runtime->ops->claim_report(runtime))
        say(stderr, "%s: rank %u: rank 0 was lost: the run ends", role_name(runtime->role), runtime->rank);
    runtime_abort_alone(runtime);
}

static void lose_leader(void *context, unsigned rank)
{
    assert(rank == 0);
    exit_without_leader(context);
}

int runtime_guard_alone(struct runtime *runtime, void (*lost)(void *context, unsigned rank), void *context)
{
    if (runtime->rank == 0)
        return guard_begin(&runtime->guard, &runtime->watch, lost, context);
    return guard_begin(&runtime->guard, &runtime->watch, lose_leader, runtime);
}

bool runtime_take_lost(struct runtime *runtime, unsigned *rank)
{
    bool in_order;
    watch_ask(&runtime->watch, runtime->ops->now());
    while (peers_take_ended(&runtime->peers, rank, &in_order)) {
        runtime->degraded = true;
        if (in_order) /* rank 0 has said before how the run went: that message is here, or comes */
            continue;
        if (*rank == 0)
            exit_without_leader(runtime);
        peers_move(&runtime->peers, *rank, PEER_LOSE);
        return true;
    }
    return false;
}
