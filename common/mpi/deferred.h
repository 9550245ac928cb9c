/* SPDX-License-Identifier: MIT */
/* Control messages that are handled later, as they came while there was no room to send (send.c), or before their
 * job (early.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct deferred_message;

struct deferred {
    struct deferred_message **messages; /* [count] the oldest first; owned, with what is in it */
    size_t count, room;
    struct deferred_message *open; /* the latest that was taken out; owned */
};

/* Keeps a message behind the others. -1 when memory is out. */
int deferred_put(struct deferred *deferred, unsigned from, const unsigned char *bytes, size_t size);

/* Sender and job of message `i`. */
unsigned deferred_from(const struct deferred *deferred, size_t i);
uint32_t deferred_job(const struct deferred *deferred, size_t i);

/* Takes message `i`, 0 being the oldest. The bytes stay until the next call. */
void deferred_take(struct deferred *deferred, size_t i, unsigned *from, const unsigned char **bytes, size_t *size);

void deferred_fini(struct deferred *deferred);
