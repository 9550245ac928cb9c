/* SPDX-License-Identifier: MIT */
/* Queues messages whose job has not arrived, and drops messages of finished jobs.
 *
 * A job is announced down the tree. So another rank's message about the job may arrive before the announcement. The
 * early message is queued, and so are all later messages of its sender. So the messages of a sender stay in order. Some
 * of them announce data messages, and data messages must be received in the order of their announcements. */
#include "common/mpi/driver.h"

#include "proto/message.h"

#include <stdlib.h>

static bool any_from(const struct deferred *early, unsigned from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (deferred_from(early, i) == from)
            return true;
    return false;
}

bool early_must_wait(const struct link *link, unsigned from, const struct message *message)
{
    return message->job > link->newest || any_from(&link->early, from, link->early.count);
}

bool early_take(struct link *link, unsigned *from, const unsigned char **bytes, size_t *size)
{
    struct deferred *early = &link->early;
    for (size_t i = 0; i < early->count; i++) {
        if (any_from(early, deferred_from(early, i), i) || deferred_job(early, i) > link->newest)
            continue;
        deferred_take(early, i, from, bytes, size);
        return true;
    }
    link->early_is_due = false;
    return false;
}

/* Receives boundary data that are not needed. They must be received, because data messages of one sender are received
 * in the order in which they were sent. */
static int drop_boundary(struct link *link, unsigned from, const struct message *message)
{
    struct inbound inbound = {.data = {.from = from, .bytes = message->payload_bytes},
                              .room = malloc(message->payload_bytes)};
    return inbound.room == NULL ? -1 : net_await(&link->net, &inbound, inbound.room);
}

void link_drop_late(struct link *link, unsigned from, const struct message *message)
{
    int result = 0;
    if (message->type == MESSAGE_ADOPT)
        announcements_end_late(link, from, message->job);
    if (message->payload == PAYLOAD_DATA)
        result = message->type == MESSAGE_BOUNDARY
                     ? drop_boundary(link, from, message)
                     : net_collect(&link->net, NULL, &(struct part){0}, from, message->payload_bytes);
    if (result < 0)
        link_give_up(link, "out of memory for results");
}
