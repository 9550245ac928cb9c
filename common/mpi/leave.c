/* SPDX-License-Identifier: MIT */
/* The end of ranks that are not told to exit: peers whose process has ended or that are dropped, and this rank itself
 * when it is taken for lost, has lost the supermaster, or cannot go on. */
#include "common/mpi/driver.h"

#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/far.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/os/say.h"
#include "common/util/error.h"

#include <assert.h>
#include <stdio.h>

void link_give_up(struct link *link, const char *text)
{
    say(stderr, "%s: rank %u: %s", role_name(link->runtime->role), link->runtime->rank, text);
    link->is_broken = true;
    runtime_abort(link->runtime, EXIT_STATUS_FAILED);
}

static _Noreturn void exit_failed(struct runtime *runtime)
{
    runtime->ops->abandon(runtime);
    fflush(stderr);
    runtime->ops->end_process(EXIT_STATUS_FAILED);
}

/* Ends this rank, which the others took for lost while it was stopped or cut off, or for what it sent, and do
 * without. */
static _Noreturn void exit_fenced(struct runtime *runtime, const char *why)
{
    say(stderr, "%s: rank %u: %s, and leaves", role_name(runtime->role), runtime->rank, why);
    exit_failed(runtime);
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

/* Gives up data that were to be received from a rank that has ended, as they will not come. */
static void cancel_data(struct link *link, unsigned rank)
{
    struct event stored = {.type = EVENT_STORED, .lost = true};
    struct net_user *user;
    int result;
    while ((result = net_cancel(&link->net, rank, &user, &stored.part)) > 0)
        if (user != NULL)
            driver_step(driver_of(user), &stored);
    if (result < 0)
        link_give_up(link, "out of memory for results");
    net_cancel_inbound(&link->net, rank);
    for (struct driver *driver = link->drivers; driver != NULL; driver = driver->next)
        driver_deliver_stored(driver);
}

void link_ask_to_leave(struct link *link, bool now)
{
    const struct message leaving = {.type = MESSAGE_LEAVING, .leaving = {now}};
    if (link->runtime->role == ROLE_MASTER)
        far_send(link, link->runtime->topology.supermaster, FIRST_JOB, &leaving);
    link->has_asked_to_leave = true;
}

/* A pod without workers would stay, with an allocation that nobody uses, and a set that has no other pod wait for it.
 */
static void leave_without_workers(struct link *link)
{
    const struct runtime *runtime = link->runtime;
    if (runtime->first_rank == 0 || runtime->role != ROLE_MASTER || link_has_worker(link))
        return;
    fprintf(stderr, "master: rank %u: all workers of this pod are lost: it leaves\n", runtime->rank);
    link_ask_to_leave(link, true);
}

static void deliver_loss(struct link *link, unsigned rank)
{
    assert(peers_state(&link->runtime->peers, rank) == PEER_LOST);
    announce_to_orphans(link, rank);
    for (struct driver *driver = link->drivers; driver != NULL; driver = driver->next) {
        struct event lost = {.type = EVENT_RANK_LOST, .from = rank};
        driver_step(driver, &lost);
    }
    cancel_data(link, rank);
    leave_without_workers(link);
}

/* Has the workers of a lost master and the supermaster watch each other, as the workers and their master have done. */
static void watch_orphans(struct runtime *runtime, unsigned master)
{
    const struct topology *topology = &runtime->topology;
    if (!runtime_has_rank(runtime, master) || runtime->hellos[master].role != ROLE_MASTER)
        return;
    if (runtime->role == ROLE_WORKER)
        runtime->ops->watch(runtime, topology->supermaster);
    for (unsigned w = 0; runtime->role == ROLE_SUPERMASTER && w < topology->workers; w++)
        if (runtime_master_of(runtime, topology->worker_rank[w]) == master)
            runtime->ops->watch(runtime, topology->worker_rank[w]);
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
    if (is_supermaster) /* messages from there cannot be relied on any more */
        exit_failed(runtime);
    peers_move(&runtime->peers, rank, PEER_FENCE);
    if (!runtime_has_rank(runtime, rank)) {
        far_drop(link, rank);
        return;
    }
    runtime->degraded = true;
    runtime->ops->fence(runtime, rank);
}

void link_lose_fenced(struct link *link)
{
    unsigned rank;
    while (peers_take_fenced(&link->runtime->peers, &rank)) {
        deliver_loss(link, rank);
        watch_orphans(link->runtime, rank);
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
        take_last_messages(link);
        if (!link_runs(link) || peers_state(&runtime->peers, ended) != PEER_CLOSED)
            continue;
        if (ended == runtime->topology.supermaster)
            exit_orphaned(runtime, in_order);
        if (in_order)
            cancel_data(link, ended);
        else {
            peers_move(&runtime->peers, ended, PEER_LOSE);
            deliver_loss(link, ended);
        }
        watch_orphans(runtime, ended);
    }
}
