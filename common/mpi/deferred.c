/* SPDX-License-Identifier: MIT */
/* Messages that wait until a far rank may be written to.
 *
 * A rank that has no room to send another message waits for its oldest to be gone. Workers of different nodes do not
 * watch one another: should the receiver be lost, that message may never be gone, and only an END from above says so,
 * as long as there is somebody above (send.c). Where it is the END of a job of a set the other ranks stay, and nothing
 * is waited for any more. So a worker that exchanges boundary data takes its messages while it waits, looks for an END,
 * and keeps all of them, in their order, for when it can answer. */
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

int deferred_put(struct deferred *deferred, unsigned from, const unsigned char *bytes, size_t size)
{
    struct deferred_message *message = malloc(sizeof *message);
    struct deferred_message **messages =
        grow(deferred->messages, deferred->count, &deferred->room, sizeof(struct deferred_message *));
    if (messages != NULL)
        deferred->messages = messages;
    if (messages == NULL || message == NULL) {
        free(message);
        return -1;
    }
    message->from = from;
    message->size = size;
    memcpy(message->bytes, bytes, size);
    messages[deferred->count++] = message;
    return 0;
}

unsigned deferred_from(const struct deferred *deferred, size_t i)
{
    assert(i < deferred->count);
    return deferred->messages[i]->from;
}

uint32_t deferred_job(const struct deferred *deferred, size_t i)
{
    struct message message;
    assert(i < deferred->count);
    const bool is_one =
        message_decode(&message, deferred->messages[i]->bytes, deferred->messages[i]->size) == DECODE_OK;
    return is_one ? message.job : 0;
}

void deferred_look(struct link *link)
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

void deferred_take(struct deferred *deferred, size_t i, unsigned *from, const unsigned char **bytes, size_t *size)
{
    assert(i < deferred->count && deferred->count <= deferred->room);
    free(deferred->open);
    deferred->open = deferred->messages[i];
    deferred->count--;
    memmove(&deferred->messages[i], &deferred->messages[i + 1],
            (deferred->count - i) * sizeof(struct deferred_message *));
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
