/* SPDX-License-Identifier: MIT */
/* Sends SIGCONT to ranks that are stopped (SIGSTOP) when the run is over. A stopped rank does not receive its END, and
 * the other ranks would wait for it when they leave.
 *
 * During the loop a stopped worker stays stopped: others compute its work, and somebody may need the core. After a rank
 * has its END, it checks the ranks after it on its node, up to the first rank that runs. That rank checks the ranks
 * after it. So each rank reads /proc for about one other rank. */
#include "common/mpi/rouse.h"

#include "common/mpi/ops.h"
#include "common/mpi/rank.h"
#include "common/os/process.h"
#include "common/os/say.h"
#include "proto/message.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#define ROUSE_EVERY_NS 50000000u

static void rouse(struct runtime *runtime, unsigned rank, int pid)
{
    if (runtime->ops->signal_process(pid, SIGCONT) < 0 || !doorbell_claim_report(&runtime->doorbell, rank))
        return; /* Another rank prints the message about this rank. */
    say(stderr, "%s: rank %u: %s rank %u is stopped and the run is over: it goes on, to leave",
        role_name(runtime->role), runtime->rank, role_name(runtime->hellos[rank].role), rank);
}

static bool look_after(struct runtime *runtime, unsigned rank)
{
    if (!doorbell_reaches(&runtime->doorbell, rank) || doorbell_has_left(&runtime->doorbell, rank))
        return false;
    const int pid = (int)runtime->hellos[rank].pid;
    const char state = runtime->ops->process_state(pid);
    if (state == PROCESS_STOPPED)
        rouse(runtime, rank, pid);
    return process_runs(state) && state != PROCESS_STOPPED;
}

void rouse_look(struct runtime *runtime, uint64_t now_ns)
{
    if (!runtime->has_end || runtime->is_blind || now_ns < runtime->rouse_due_ns)
        return;
    runtime->rouse_due_ns = now_ns + ROUSE_EVERY_NS;
    const unsigned count = runtime->ranks - runtime->first_rank, own = runtime->rank - runtime->first_rank;
    for (unsigned i = 1; i < count; i++)
        if (look_after(runtime, runtime->first_rank + (own + i) % count))
            return;
}
