/* SPDX-License-Identifier: MIT */
/* Queued messages: see send.c and early.c for the reasons. */
#include "common/mpi/deferred.h"

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
