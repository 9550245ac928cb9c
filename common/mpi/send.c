/* SPDX-License-Identifier: MIT */
/* Sends messages of machines. Blocks only if too many sends are unfinished: then it waits for the oldest send to
 * finish, or for the end of its receiver.
 *
 * Workers on different nodes do not watch each other. So if a worker was lost, a send to it from another node may never
 * finish. The wait then ends only with an END from the serving rank, if that rank is alive. Therefore a worker that
 * exchanges boundary data receives messages while it waits. It looks for an END among them, and queues all of them in
 * order for later. If the END belongs to one job of a set, the other workers stay, and this rank only stops waiting. */
#include "common/mpi/driver.h"

#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/util/grow.h"
#include "proto/message.h"

#include <assert.h>

static void release_halos(struct driver *driver)
{
    struct releases *releases = &driver->releases;
    size_t left = 0;
    for (size_t i = 0; i < releases->count; i++)
        if (releases->items[i].over <= driver->link->net.over)
            executor_release(driver->effects->executor, releases->items[i].boundary_at);
        else
            releases->items[left++] = releases->items[i];
    releases->count = left;
}

void driver_release(struct driver *driver, uint64_t boundary_at)
{
    struct releases *releases = &driver->releases;
    struct release *items = grow(releases->items, releases->count, &releases->room, sizeof *items);
    if (items == NULL) {
        link_give_up(driver->link, "out of memory for boundary data");
        return;
    }
    releases->items = items;
    items[releases->count++] = (struct release){boundary_at, driver->link->net.begun};
    release_halos(driver);
}

bool link_progress_sends(struct link *link)
{
    struct ended_send sent;
    unsigned to;
    bool any = false;
    while (net_sent(&link->net, &sent)) {
        if (sent.payload != NULL && sent.is_kept)
            executor_abandon(driver_of(sent.user)->effects->executor, sent.payload);
        else if (sent.payload != NULL)
            executor_sent(driver_of(sent.user)->effects->executor, sent.payload);
        link->ops->ring(link->runtime, sent.to);
        any = true;
    }
    while (net_send_held(&link->net, &to)) {
        link->ops->ring(link->runtime, to);
        any = true;
    }
    for (struct driver *driver = link->drivers; any && driver != NULL; driver = driver->next)
        if (driver->releases.count > 0)
            release_halos(driver);
    return any;
}

void driver_delay(struct driver *driver)
{
    uint64_t delay_ns = driver->actions.calculations * driver->effects->calculation_ns +
                        driver->actions.assignments * driver->effects->assignment_ns;
    driver->actions.calculations = driver->actions.assignments = 0;
    if (delay_ns == 0)
        return;
    driver->link->ops->delay(driver->link->runtime, delay_ns);
    driver->link->now_ns = driver->link->ops->now();
}

#define LOOKS_PER_END 256

/* If the receiver of a send ends, will this rank learn of it? If boundary data go to a worker on another node, only the
 * rank that serves this worker notices its end. If the serving rank has ended too, the supermaster notices the end, but
 * only after it has begun to serve this rank. After the job is over, no rank notices it. */
static bool may_wait(const struct link *link)
{
    const struct runtime *runtime = link->runtime;
    return !runtime->exchanges ||
           (!link->exchange_ends && peers_can_send(&runtime->peers, runtime_master_of(runtime, runtime->rank)));
}

static void defer_next(struct link *link)
{
    const struct topology *topology = &link->runtime->topology;
    struct peers *peers = &link->runtime->peers;
    const unsigned char *bytes;
    size_t size;
    unsigned from;
    struct message message;
    if (!link->runtime->exchanges || !net_poll(&link->net, &from, &bytes, &size))
        return;
    if (deferred_put(&link->deferred, from, bytes, size) < 0) {
        link_give_up(link, "out of memory for a message");
        return;
    }
    if (link->runtime->hellos[from].role == ROLE_WORKER || message_decode(&message, bytes, size) != DECODE_OK)
        return;
    if (message.type != MESSAGE_END)
        return;
    link->exchange_ends = link->expects_jobs;
    for (unsigned w = 0; !link->expects_jobs && w < topology->workers; w++)
        if (topology->worker_rank[w] != link->runtime->rank)
            peers_move(peers, topology->worker_rank[w], PEER_DISMISS);
}

void link_make_room(struct link *link)
{
    if (!net_can_send(&link->net))
        far_flush(&link->far);
    for (unsigned looks = 1; !net_can_send(&link->net) && may_wait(link); looks++) {
        link_progress_sends(link);
        defer_next(link);
        if (looks % LOOKS_PER_END == 0) {
            const uint64_t now_ns = link->ops->now();
            link->ops->look(&link->wait, now_ns);
            link->ops->look_at_peers(link->runtime, now_ns);
        }
    }
}

bool link_send(struct link *link, struct net_user *user, unsigned to, const struct message *message)
{
    const int result = runtime_has_rank(link->runtime, to) ? net_send(&link->net, to, user, message)
                                                           : far_send(link, to, user->job, message);
    if (result < 0)
        link_give_up(link, "out of memory for a message");
    return result >= 0;
}

void driver_send(void *context, unsigned to, const struct message *message)
{
    struct message rest;
    if (asks_hold_back(context, to, &message, &rest))
        driver_send_now(context, to, message);
}

bool driver_steal(struct driver *driver, unsigned to, unsigned waiting, bool is_answer)
{
    struct link *link = driver->link;
    struct outcome *outcome = &driver->outcome;
    struct theft theft = {.rank = to};
    if (outcome->thefts == THEFTS_MAX)
        return false;
    const int result = link->ops->steal != NULL && runtime_has_rank(link->runtime, to)
                           ? link->ops->steal(link->runtime, to, waiting, &theft.stolen)
                           : 0;
    if (result == 0 && is_answer)
        return false;
    theft.stolen.is_answer = is_answer && result > 0;
    outcome->theft[(outcome->first_theft + outcome->thefts++) % THEFTS_MAX] = theft;
    return result > 0;
}

__attribute__((noinline, cold)) static bool prepare_send(struct driver *driver, unsigned to,
                                                         const struct message **message, struct message *told)
{
    struct link *link = driver->link;
    const struct effects *effects = driver->effects;
    if ((*message)->type == MESSAGE_THREADS && effects->tell != NULL) {
        *told = **message;
        effects->tell(effects->context, &told->threads);
        *message = told;
    }
    link->runtime->has_end |= (*message)->type == MESSAGE_END && !link->expects_jobs;
    if ((*message)->type == MESSAGE_END && (*message)->end.degraded && runtime_has_rank(link->runtime, to)) {
        link->runtime->degraded = true;
        if (effects->parting != NULL)
            effects->parting(effects->context);
    }
    return (*message)->type != MESSAGE_RECALL || (*message)->recall.waiting == RECALL_ALL ||
           !driver_steal(driver, to, (*message)->recall.waiting, true);
}

void driver_send_now(struct driver *driver, unsigned to, const struct message *message)
{
    struct link *link = driver->link;
    const struct effects *effects = driver->effects;
    struct message told;
    assert(to < link->runtime->peers.ranks);
    if (driver->outcome.sync_failed) {
        driver->outcome.sync_failed = false;
        return;
    }
    driver_delay(driver);
    if (message->type > MESSAGE_ASSIGN && !prepare_send(driver, to, &message, &told))
        return;
    link_make_room(link);
    if (!peers_can_send(&link->runtime->peers, to)) {
        /* The data of a worker's message belong to its executor, so the executor is told that nothing uses them any
         * more. A master only forwards data of other ranks. */
        if (message->payload != PAYLOAD_NONE && effects->executor != NULL)
            executor_sent(effects->executor, message->payload_data);
        return;
    }
    if (!link_send(link, &driver->user, to, message) || !runtime_has_rank(link->runtime, to))
        return;
    link_progress_sends(link);
    if (link->net.send_count > 0)
        link->ops->ring(link->runtime, to);
}
