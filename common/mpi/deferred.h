/* SPDX-License-Identifier: MIT */
/* Control messages that came while there was no room to send, and are handled later: see deferred.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct driver;
struct deferred_message;

struct deferred {
    struct deferred_message **messages; /* [count] the oldest first; owned, with what is in it */
    size_t count, room;
    struct deferred_message *open; /* the latest that was taken out; owned */
};

/* Takes the next message from MPI and defers it, where this rank exchanges boundary data. */
void deferred_look(struct driver *driver);

/* Takes the oldest deferred message, of which there is one. The bytes stay until the next call. */
void deferred_take(struct deferred *deferred, unsigned *from, const unsigned char **bytes, size_t *size);

void deferred_fini(struct deferred *deferred);
