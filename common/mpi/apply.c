/* SPDX-License-Identifier: MIT */
/* Applies the actions of a machine, in order. During calls that may take long and do not use MPI, the heartbeat thread
 * may use MPI (heartbeat.c). */
#include "common/mpi/driver.h"

#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/util/error.h"
#include "proto/record.h"

#include <assert.h>
#include <stdlib.h>

static void note_end_of_store(struct driver *driver, const struct event *event, const struct error *error)
{
    struct stores *stores = &driver->stores;
    assert(stores->count < STORES_MAX);
    unsigned i = (stores->first + stores->count++) % STORES_MAX;
    stores->events[i] = *event;
    if (error != NULL) {
        stores->errors[i] = *error;
        stores->events[i].text = stores->errors[i].text;
    }
}

void driver_note_stored(struct driver *driver, const struct part *part, int result, const struct error *error)
{
    note_end_of_store(driver, &(struct event){.type = EVENT_STORED, .part = *part}, result < 0 ? error : NULL);
}

void driver_store(struct driver *driver, const struct part *part, const void *data, uint64_t bytes)
{
    struct error error;
    if (driver->effects->stores_far) {
        assert(bytes > 0 && bytes <= INLINE_MAX);
        if (far_send_store(driver->link, driver->user.job, part, PAYLOAD_INLINE, data, bytes) < 0)
            link_give_up(driver->link, "out of memory for a message");
        driver_note_stored(driver, part, 0, NULL);
        return;
    }
    assert(driver->effects->store != NULL);
    heartbeat_release(&driver->link->runtime->heartbeat);
    int result = driver->effects->store(driver->effects->context, part, data, bytes, &error);
    heartbeat_retake(&driver->link->runtime->heartbeat);
    driver->link->now_ns = driver->link->ops->now();
    driver_note_stored(driver, part, result, &error);
}

bool driver_open(struct driver *driver)
{
    const struct effects *effects = driver->effects;
    struct link *link = driver->link;
    struct error error;
    if (effects->executor != NULL)
        return true;
    assert(effects->open != NULL && "a machine that computes has an executor");
    heartbeat_release(&link->runtime->heartbeat);
    const int result = effects->open(effects->context, &error);
    heartbeat_retake(&link->runtime->heartbeat);
    link->now_ns = link->ops->now();
    if (result < 0)
        driver->outcome.problem = error;
    else if (link->ops->begin_work(&link->wait, &driver->work, effects->executor) < 0)
        link_give_up(link, "out of memory, or of files, for a kernel");
    if (result == 0)
        stride_admit(&link->stride, &driver->share);
    link->computes |= result == 0;
    return result == 0;
}

bool driver_enter_slowly(struct driver *driver)
{
    if (driver->is_locked_out || driver->effects->enter(driver->effects->context, &driver->outcome.problem) == 0)
        return !driver->is_locked_out;
    driver->is_locked_out = true;
    return false;
}

bool driver_probe(struct driver *driver, struct speed *speed)
{
    if (!driver_open(driver) || !driver_enter(driver))
        return false;
    heartbeat_release(&driver->link->runtime->heartbeat);
    const bool is_over = executor_probe(driver->effects->executor, speed);
    driver_leave(driver);
    heartbeat_retake(&driver->link->runtime->heartbeat);
    driver->link->now_ns = driver->link->ops->now();
    driver->is_beside = !is_over;
    return is_over;
}

static bool apply_durably(struct driver *driver, const struct action *action)
{
    const struct effects *effects = driver->effects;
    struct error error;
    heartbeat_release(&driver->link->runtime->heartbeat);
    int result = action->type == ACTION_SYNC     ? effects->sync(effects->context, &error)
                 : action->type == ACTION_DEATHS ? effects->deaths(effects->context, &action->deaths, &error)
                 : action->type == ACTION_POINT
                     ? effects->point(effects->context, action, &error)
                     : effects->journal(effects->context, action->journal.ranges, action->journal.count,
                                        action->journal.digest, &error);
    heartbeat_retake(&driver->link->runtime->heartbeat);
    if (result < 0 && driver->outcome.problem.text[0] == '\0')
        driver->outcome.problem = error;
    return result >= 0;
}

/* Receives a result. Does not receive it if a receive of earlier data from the same rank was cancelled: MPI would put
 * the data of the cancelled receive into this receive. */
static void apply_collect(struct driver *driver, const struct action *action)
{
    struct link *link = driver->link;
    const struct part *part = &action->store.part;
    if (!peers_can_receive_data(&link->runtime->peers, action->store.from))
        note_end_of_store(driver, &(struct event){.type = EVENT_STORED, .part = *part, .lost = true}, NULL);
    else if (net_collect(&link->net, &driver->user, part, action->store.from, action->store.bytes) < 0)
        link_give_up(link, "out of memory for results");
}

static void apply_boundary(struct driver *driver, const struct action *action)
{
    struct executor *executor = driver->effects->executor;
    struct inbound inbound = {
        .user = &driver->user,
        .first = action->boundary.first,
        .offset = action->boundary.offset,
        .data = {.from = action->boundary.from, .bytes = action->boundary.bytes},
    };
    assert(driver->link->runtime->exchanges);
    if (action->boundary.data != NULL) {
        executor_take_boundary(executor, inbound.first, inbound.offset, action->boundary.data, inbound.data.bytes);
        return;
    }
    void *room = executor_await_boundary(executor, inbound.first, inbound.offset, inbound.data.bytes);
    if (room == NULL || net_await(&driver->link->net, &inbound, room) < 0)
        link_give_up(driver->link, "out of memory for boundary data");
}

/* Calling grow() may take long, for example to read a remote file. The machine gets the new length after the step. */
static void apply_growth(struct driver *driver)
{
    struct outcome *outcome = &driver->outcome;
    struct error error;
    heartbeat_release(&driver->link->runtime->heartbeat);
    outcome->has_grown = driver->effects->grow(driver->effects->context, &outcome->growth, &error) == 0;
    heartbeat_retake(&driver->link->runtime->heartbeat);
    if (!outcome->has_grown && outcome->problem.text[0] == '\0')
        outcome->problem = error;
}

static void apply_run(struct driver *driver, const struct action *action)
{
    const struct effects *effects = driver->effects;
    if (!driver_open(driver))
        return;
    arbiter_note_chunk(driver);
    if (effects->chunk_begins != NULL)
        effects->chunk_begins(effects->context);
    if (effects->notes_ran)
        doorbell_note_ran(&driver->link->runtime->doorbell, &(struct range){action->run.first, action->run.count});
    executor_begin(effects->executor, action->run.first, action->run.count, action->run.mark, action->run.isolated);
}

static void apply_cut(struct driver *driver, const struct action *action)
{
    struct executor *executor = driver->effects->executor;
    driver->outcome.cut = executor == NULL  ? (struct range){0}
                          : action->cut.now ? executor_end(executor)
                                            : executor_cut(executor, action->cut.waiting);
    driver->outcome.has_cut = true;
    if (executor != NULL)
        (action->cut.now ? arbiter_note_end : arbiter_note_cut)(driver);
}

void driver_apply(void *self, const struct action *action)
{
    struct driver *driver = self;
    struct executor *executor = driver->effects->executor;
    switch (action->type) {
    case ACTION_SEND: driver_send(driver, action->send.to, &action->send.message); break;
    case ACTION_PROBE: driver->outcome.wants_probe = true; break;
    case ACTION_RUN: apply_run(driver, action); break;
    case ACTION_CUT: apply_cut(driver, action); break;
    case ACTION_GROW: apply_growth(driver); break;
    case ACTION_STEAL: driver_steal(driver, action->steal.to, action->steal.waiting, false); break;
    case ACTION_FORGET: executor_forget(executor); break;
    case ACTION_MARK: executor_set_mark(executor, action->run.mark); break;
    case ACTION_STORE: driver_store(driver, &action->store.part, action->store.data, action->store.bytes); break;
    case ACTION_COLLECT: apply_collect(driver, action); break;
    case ACTION_DEATHS:
    case ACTION_POINT:
    case ACTION_JOURNAL: apply_durably(driver, action); break;
    case ACTION_SYNC: driver->outcome.sync_failed = !apply_durably(driver, action); break;
    case ACTION_BOUNDARY: apply_boundary(driver, action); break;
    case ACTION_REUSE: executor_reuse(executor, action->boundary_at); break;
    case ACTION_RELEASE: driver_release(driver, action->boundary_at); break;
    case ACTION_DROP: link_drop(driver->link, action->drop.rank, action->drop.text); break;
    case ACTION_TAKEN: executor_sent(executor, action->taken); break;
    case ACTION_EXIT:
        if (driver->state == DRIVER_RUNS)
            driver->state = DRIVER_EXITS;
        stride_leave(&driver->link->stride, &driver->share);
        driver->exit_ns = driver->link->now_ns;
        driver->status = action->exit.status;
        break;
    }
}
