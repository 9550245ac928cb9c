/* SPDX-License-Identifier: MIT */
/* Passes events to machines and applies their actions. If a rank is declared lost during a step, the machines of all
 * jobs are told of the loss directly after that step. Telling them takes further steps. So driver_step() and
 * link_lose_fenced() call each other. */
#include "common/mpi/driver.h"

#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/far.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/util/error.h"
#include "proto/message.h"

#include <assert.h>
#include <stdio.h>

struct left_event {
    struct event event;
    struct speed speed;
    struct error problem;
};

static void step_once(struct driver *driver, struct event *event)
{
    event->now_ns = driver->link->now_ns;
    driver->machine->step(driver->machine->self, event, &driver->actions);
    driver_delay(driver); /* waits for those injected delays for which no message of this step has waited */
}

static bool take_left(struct driver *driver, struct left_event *left)
{
    struct outcome *outcome = &driver->outcome;
    if (outcome->wants_probe) {
        outcome->wants_probe = false;
        left->event = (struct event){.type = EVENT_PROBED, .speed = &left->speed};
        if (driver_probe(driver, &left->speed))
            return true;
    }
    if (outcome->has_cut) {
        outcome->has_cut = false;
        left->event = (struct event){.type = EVENT_CUT, .cut = outcome->cut};
        return true;
    }
    if (outcome->thefts > 0) {
        const struct theft *theft = &outcome->theft[outcome->first_theft++ % THEFTS_MAX];
        outcome->thefts--;
        left->event = (struct event){.type = EVENT_STOLEN, .from = theft->rank, .stolen = theft->stolen};
        return true;
    }
    if (outcome->has_grown) {
        outcome->has_grown = false;
        left->event = (struct event){.type = EVENT_GROWN, .growth = outcome->growth};
        return true;
    }
    if (outcome->problem.text[0] == '\0')
        return false;
    left->problem = outcome->problem;
    outcome->problem.text[0] = '\0';
    left->event = (struct event){.type = EVENT_FATAL, .text = left->problem.text};
    return true;
}

void driver_step_on(struct driver *driver)
{
    struct left_event left;
    while (take_left(driver, &left))
        step_once(driver, &left.event);
    if (driver->link->runtime->peers.fenced > 0)
        link_lose_fenced(driver->link);
}

void driver_step(struct driver *driver, struct event *event)
{
    step_once(driver, event);
    driver_step_on(driver);
}

void driver_deliver_stored(struct driver *driver)
{
    struct stores *stores = &driver->stores;
    while (stores->count > 0) {
        struct event event = stores->events[stores->first];
        stores->first = (stores->first + 1) % STORES_MAX;
        stores->count--;
        driver_step(driver, &event);
    }
}

struct driver *link_find_driver(const struct link *link, uint32_t job)
{
    struct driver *driver = link->drivers;
    while (driver != NULL && driver->user.job != job)
        driver = driver->next;
    return driver;
}

bool driver_knows(const struct driver *driver, unsigned rank)
{
    const uint32_t since = link_returned_since(driver->link, rank), job = driver->user.job;
    return since == 0 || (job >= since && announced_for_all(&driver->link->announcements, job));
}

bool link_runs(const struct link *link)
{
    const struct driver *driver = link->drivers;
    while (driver != NULL && driver->state != DRIVER_RUNS)
        driver = driver->next;
    return !link->is_broken && (driver != NULL || (link->expects_jobs && link->announcements.end == 0));
}

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

static bool has_lost(const struct link *link, unsigned rank)
{
    return runtime_has_rank(link->runtime, rank) ? peers_state(&link->runtime->peers, rank) == PEER_LOST
                                                 : far_has_gone(link, rank);
}

bool link_has_worker(const struct link *link)
{
    const struct topology *topology = &link->runtime->topology;
    unsigned w = 0;
    while (w < topology->workers && has_lost(link, topology->worker_rank[w]))
        w++;
    return w < topology->workers;
}

void link_ask_to_leave(struct link *link, bool now)
{
    const struct message leaving = {.type = MESSAGE_LEAVING, .leaving = {now}};
    if (link->runtime->role == ROLE_MASTER &&
        far_send(link, link->runtime->topology.supermaster, FIRST_JOB, &leaving) < 0)
        link_give_up(link, "out of memory for a message");
    link->has_asked_to_leave = true;
}

/* After a pod has lost all its workers, makes it leave its set. Otherwise the pod would occupy its allocation for
 * nothing, and the set might wait for it. */
static void leave_without_workers(struct link *link)
{
    const struct runtime *runtime = link->runtime;
    if (runtime->first_rank == 0 || runtime->role != ROLE_MASTER || link_has_worker(link))
        return;
    fprintf(stderr, "master: rank %u: all workers of this pod are lost: it leaves\n", runtime->rank);
    link_ask_to_leave(link, true);
}

/* In a set on one machine whose supermaster serves all workers, a lost worker may return. After the last worker is
 * lost, the set waits for no return: it ends, and is started again. */
static void await_return(struct link *link, unsigned rank)
{
    const struct runtime *runtime = link->runtime;
    const bool may_return = runtime->take_back != NULL && runtime->role == ROLE_SUPERMASTER && link->expects_jobs &&
                            topology_is_central(&runtime->topology) && runtime_has_rank(runtime, rank);
    link->returns.are_over |= !link_has_worker(link);
    link->returns.are_awaited = (link->returns.are_awaited || may_return) && !link->returns.are_over;
}

static void deliver_loss(struct link *link, unsigned rank)
{
    assert(peers_state(&link->runtime->peers, rank) == PEER_LOST);
    announce_to_orphans(link, rank);
    for (struct driver *driver = link->drivers; driver != NULL; driver = driver->next) {
        struct event lost = {.type = EVENT_RANK_LOST, .from = rank};
        if (driver_knows(driver, rank))
            driver_step(driver, &lost);
    }
    cancel_data(link, rank);
    await_return(link, rank);
    leave_without_workers(link);
}

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

void link_lose_fenced(struct link *link)
{
    unsigned rank;
    while (peers_take_fenced(&link->runtime->peers, &rank)) {
        deliver_loss(link, rank);
        watch_orphans(link->runtime, rank);
    }
}

void link_refuse(struct link *link, unsigned rank, const char *problem)
{
    link_drop(link, rank, problem);
    link_lose_fenced(link);
}

void link_close_peer(struct link *link, unsigned rank, bool in_order)
{
    if (in_order) {
        peers_move(&link->runtime->peers, rank, PEER_EMPTY);
        cancel_data(link, rank);
    } else {
        peers_move(&link->runtime->peers, rank, PEER_LOSE);
        deliver_loss(link, rank);
    }
    watch_orphans(link->runtime, rank);
}
