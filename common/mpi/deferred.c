/* SPDX-License-Identifier: MIT */
/* Messages that wait until a far rank may be written to.
 *
 * A rank that has no room to send another message waits for its oldest to be gone. Workers of different nodes do not
 * watch one another: should the receiver be lost, that message may never be gone, and only a QUIESCE or an END from
 * above says so, as long as there is somebody above (send.c). So a worker that exchanges boundary data takes its
 * messages while it waits, looks for these two, and keeps all of them, in their order, for when it can answer. */
#include "common/mpi/deferred.h"

#include "common/machine/topology.h"
#include "common/mpi/driver.h"
#include "common/mpi/peers.h"
#include "common/mpi/rank.h"
#include "common/util/grow.h"
#include "proto/message.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct deferred_message {
    unsigned from;
    size_t size;
    unsigned char bytes[MESSAGE_MAX];
};

static void defer_message(struct driver *driver, unsigned from, const unsigned char *bytes, size_t size)
{
    struct deferred *deferred = &driver->deferred;
    struct deferred_message *message = malloc(sizeof *message);
    struct deferred_message **messages =
        grow(deferred->messages, deferred->count, &deferred->room, sizeof(struct deferred_message *));
    if (messages != NULL)
        deferred->messages = messages;
    if (messages == NULL || message == NULL) {
        free(message);
        driver_give_up(driver, "out of memory for a message");
        return;
    }
    message->from = from;
    message->size = size;
    memcpy(message->bytes, bytes, size);
    messages[deferred->count++] = message;
}

void deferred_look(struct driver *driver)
{
    const struct topology *topology = &driver->runtime->topology;
    struct peers *peers = &driver->runtime->peers;
    const unsigned char *bytes;
    size_t size;
    unsigned from;
    struct message message;
    if (!driver->runtime->exchanges || !net_poll(&driver->net, &from, &bytes, &size))
        return;
    defer_message(driver, from, bytes, size);
    if (driver->runtime->hellos[from].role == ROLE_WORKER || message_decode(&message, bytes, size) != DECODE_OK)
        return;
    if (message.type == MESSAGE_QUIESCE && message.quiesce.rank < driver->runtime->ranks)
        peers_move(peers, message.quiesce.rank, PEER_NAMED);
    for (unsigned w = 0; message.type == MESSAGE_END && w < topology->workers; w++)
        if (topology->worker_rank[w] != driver->runtime->rank)
            peers_move(peers, topology->worker_rank[w], PEER_DISMISS);
}

void deferred_take(struct deferred *deferred, unsigned *from, const unsigned char **bytes, size_t *size)
{
    assert(deferred->count > 0 && deferred->count <= deferred->room);
    free(deferred->open);
    deferred->open = deferred->messages[0];
    memmove(deferred->messages, deferred->messages + 1, --deferred->count * sizeof(struct deferred_message *));
    *from = deferred->open->from;
    *bytes = deferred->open->bytes;
    *size = deferred->open->size;
}

void deferred_fini(struct deferred *deferred)
{
    for (size_t i = 0; i < deferred->count; i++)
        free(deferred->messages[i]);
    free(deferred->messages);
    free(deferred->open);
}
