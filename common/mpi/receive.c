/* SPDX-License-Identifier: MIT */
/* Receives messages, results and boundary data, and passes each to the machine of its job. */
#include "common/mpi/driver.h"

#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/mpi/ops.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "proto/message.h"

#include <stdio.h>
#include <stdlib.h>

static void drop_sender(struct link *link, unsigned from, const char *reason)
{
    char text[120];
    snprintf(text, sizeof text, "sent a message that is not of the protocol (%s)", reason);
    link_refuse(link, from, text);
}

static void note_end(struct link *link, const struct end *end)
{
    link->runtime->has_end |= !link->expects_jobs;
    link->runtime->degraded |= end->degraded;
}

static void refuse_if(struct link *link, unsigned from, const char *problem)
{
    if (problem != NULL)
        link_refuse(link, from, problem);
}

static void handle_message(struct link *link, unsigned from, const unsigned char *bytes, size_t size, bool has_waited)
{
    struct message message;
    enum decode_result reason = message_decode(&message, bytes, size);
    if (reason != DECODE_OK) {
        drop_sender(link, from, decode_result_text(reason));
        return;
    }
    if (message.type == MESSAGE_ADOPT && runtime_has_rank(link->runtime, from))
        /* An ADOPT comes from a worker whose master was lost. This rank may not know of that loss yet. It watches the
         * worker from now on. */
        link->ops->watch(link->runtime, from);
    if (link->expects_jobs && (message.type == MESSAGE_JOB || message.type == MESSAGE_SET_OVER)) {
        refuse_if(link, from, announcements_receive(link, from, &message));
        return;
    }
    if (message.type == MESSAGE_LEAVING) {
        if (!link->expects_jobs || !link_send_away(link, from, message.leaving.now))
            drop_sender(link, from, "of a rank that has not joined");
        return;
    }
    if (message.type == MESSAGE_STORE) {
        refuse_if(link, from, far_take_store(link, from, &message));
        return;
    }
    if (link->expects_jobs && !has_waited && early_must_wait(link, from, &message)) {
        if (deferred_put(&link->early, from, bytes, size) < 0)
            link_give_up(link, "out of memory for a message");
        return;
    }
    struct driver *driver = link_find_driver(link, message.job);
    if (driver == NULL) {
        if (link->expects_jobs)
            link_drop_late(link, from, &message);
        else
            drop_sender(link, from, "of a job that there is not");
        return;
    }
    struct event event = {.type = EVENT_MESSAGE, .from = from, .message = &message};
    if (message.type == MESSAGE_END)
        note_end(link, &message.end);
    if (driver->cannot_store && message.type == MESSAGE_REPORT && !runtime_has_rank(link->runtime, from))
        /* Results of a pod could not be written. So the iterations in this report may have no results, and the report's
         * list is ignored. */
        message.record_count = 0;
    driver_step(driver, &event);
    driver_deliver_stored(driver);
}

static bool take_next(struct link *link, unsigned *from, const unsigned char **bytes, size_t *size)
{
    struct far *far = &link->far;
    if (far->streams == NULL)
        return net_poll(&link->net, from, bytes, size);
    if (far->is_full)
        return far_poll(link, from, bytes, size);
    far->looks_first = !far->looks_first;
    return (far->looks_first && far_poll(link, from, bytes, size)) || net_poll(&link->net, from, bytes, size) ||
           (!far->looks_first && far_poll(link, from, bytes, size));
}

bool link_receive(struct link *link, unsigned most)
{
    const unsigned char *bytes;
    size_t size;
    unsigned from, count = 0;
    while (count < most) {
        const bool has_waited = link->early_is_due && early_take(link, &from, &bytes, &size);
        if (!has_waited && link->deferred.count > 0)
            /* The deferred messages arrived before those that MPI still holds, so they are taken first. */
            deferred_take(&link->deferred, 0, &from, &bytes, &size);
        else if (!has_waited && !take_next(link, &from, &bytes, &size))
            break;
        count++;
        link->now_is_fresh = false;
        link->since_clock++;
        if (runtime_has_rank(link->runtime, from))
            heartbeat_heard(&link->runtime->heartbeat, from);
        if (peers_can_receive(&link->runtime->peers, from))
            handle_message(link, from, bytes, size, has_waited);
    }
    return count > 0;
}

bool link_receive_data(struct link *link)
{
    struct collect *collect = link->far.sending != NULL ? link->far.sending : net_poll_collect(&link->net);
    if (collect == NULL)
        return false;
    struct driver *driver = collect->user != NULL ? driver_of(collect->user) : NULL;
    heartbeat_heard(&link->runtime->heartbeat, collect->data.from);
    if (driver != NULL && part_is_unwanted(&collect->part))
        driver_note_stored(driver, &collect->part, 0, NULL);
    else if (link->far.sending != NULL || (driver != NULL && driver->effects->stores_far)) {
        bool is_over;
        const bool any = far_send_data(link, collect, &is_over);
        if (!is_over)
            return any;
    } else if (driver != NULL)
        driver_store(driver, &collect->part, collect->buffer, collect->data.bytes);
    if (net_collected(&link->net, collect) < 0)
        link_give_up(link, "out of memory for results");
    if (driver != NULL)
        driver_deliver_stored(driver);
    return true;
}

bool link_receive_boundary(struct link *link)
{
    struct inbound arrived;
    if (!net_poll_inbound(&link->net, &arrived))
        return false;
    heartbeat_heard(&link->runtime->heartbeat, arrived.data.from);
    if (arrived.user == NULL)
        free(arrived.room);
    else
        executor_boundary_came(driver_of(arrived.user)->effects->executor, arrived.first, arrived.offset,
                               arrived.data.bytes);
    return true;
}
