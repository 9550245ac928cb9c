/* SPDX-License-Identifier: MIT */
/* A queue of control messages that are handled later. A message is queued if there was no room to send it (send.c), or
 * if its job has not arrived (early.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct deferred_message;

struct deferred {
    struct deferred_message **messages; /* [count] the messages, the oldest first; owned, with their bytes */
    size_t count, room;
    struct deferred_message *open;
};

int deferred_put(struct deferred *deferred, unsigned from, const unsigned char *bytes, size_t size);

unsigned deferred_from(const struct deferred *deferred, size_t i);
uint32_t deferred_job(const struct deferred *deferred, size_t i);

/* Removes message `i`, counted from the oldest, and sets `*bytes` to its bytes. They are valid until the next call. */
void deferred_take(struct deferred *deferred, size_t i, unsigned *from, const unsigned char **bytes, size_t *size);

void deferred_fini(struct deferred *deferred);
