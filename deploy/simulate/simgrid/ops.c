/* SPDX-License-Identifier: MIT */
/* runtime_ops of a simulated rank. There are no doorbells, because an idle rank waits in MPI. There is no detection of
 * failures, because the configuration says when a rank fails: see loss.c. */
#include "common/mpi/ops.h"

#include "common/mpi/peers.h"
#include "deploy/simulate/simgrid/rank.h"

#include <unistd.h>

#define SENDS 8

static int quiet_prepare(struct runtime *runtime, struct error *error)
{
    (void)runtime, (void)error;
    return 0;
}

static int watch_all_peers(struct runtime *runtime)
{
    if (peers_init(&runtime->peers, runtime->ranks) < 0)
        return -1;
    for (unsigned i = 0; i < runtime->ranks; i++)
        if (i != runtime->rank)
            peers_move(&runtime->peers, i, PEER_WATCH);
    return 0;
}

static void quiet_towards(struct runtime *runtime, unsigned rank)
{
    (void)runtime, (void)rank;
}

static const char *quiet_fenced(const struct runtime *runtime)
{
    (void)runtime;
    return NULL;
}

static void quiet_abandon(struct runtime *runtime)
{
    (void)runtime;
}

static bool quiet_claim_report(struct runtime *runtime)
{
    (void)runtime;
    return true;
}

static int quiet_open_wait(struct wait *wait, struct runtime *runtime)
{
    *wait = (struct wait){.cores_are_free = runtime->cores_are_free, .idle_since_ns = NEVER};
    return 0;
}

static void quiet_close_wait(struct wait *wait)
{
    (void)wait;
}

static int quiet_begin_work(struct wait *wait, struct wait_work *work, const struct executor *executor)
{
    (void)wait, (void)work, (void)executor;
    return 0;
}

static void quiet_end_work(struct wait *wait, struct wait_work *work)
{
    (void)wait, (void)work;
}

static void quiet_exchange(struct wait *wait, struct runtime *runtime)
{
    (void)wait, (void)runtime;
}

static void quiet_look(struct wait *wait, uint64_t now_ns)
{
    (void)wait, (void)now_ns;
}

static bool request_is_over(carrier_request *request)
{
    bool is_over;
    carrier->test(request, &is_over, NULL);
    return is_over;
}

const struct runtime_ops simulated_ops = {
    .now = simulated_now,
    .delay = simulated_delay,
    .prepare = quiet_prepare,
    .watch_all = watch_all_peers,
    .watch = quiet_towards,
    .look_at_peers = simulated_look_at_peers,
    .fence = quiet_towards,
    .fenced = quiet_fenced,
    .abandon = quiet_abandon,
    .claim_report = quiet_claim_report,
    .sends = SENDS,
    .start_receive = mailbox_start_receive,
    .announce = mailbox_announce,
    .find_message = mailbox_find,
    .is_sent = request_is_over,
    .ring = quiet_towards,
    .open_wait = quiet_open_wait,
    .close_wait = quiet_close_wait,
    .begin_work = quiet_begin_work,
    .end_work = quiet_end_work,
    .exchange = quiet_exchange,
    .look = quiet_look,
    .idle = mailbox_idle,
    .end_process = _exit,
};
