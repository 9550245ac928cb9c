/* SPDX-License-Identifier: MIT */
/* A session makes broken connections harmless. The messages of each direction are numbered implicitly from 1. The
 * sender stores each frame until it is acknowledged; the receiver counts. The head of each frame acknowledges the
 * frames received by its sender. On a new connection both ends exchange their counts, and missing frames are sent
 * again: none is lost or duplicated. No sockets or clocks are used here.
 *
 * Invariant: acknowledged <= whole <= written <= acknowledged + stored frames. */
#pragma once

#include "common/stream/fifo.h"
#include "proto/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* After this much unacknowledged input an acknowledgement is sent without waiting for output. */
#define SESSION_ACK_BYTES (64u << 10)
#define SESSION_KEPT_MAX  ((size_t)1 << 30)

struct session {
    struct fifo kept;
    uint64_t acknowledged;
    uint64_t written; /* number of frames written completely, on any connection */
    /* Number of frames that this connection has written completely or need not write; the peer can acknowledge no
     * more. */
    uint64_t whole;
    size_t written_to;   /* how many bytes of `kept` this connection has written */
    size_t unbegun_from; /* offset in `kept` of the first frame of which nothing was written */
    uint64_t received;
    size_t untold_bytes;
};

void session_init(struct session *session);
void session_fini(struct session *session);

/* Stores a MESSAGE, DATA or BYE for output. -1 if memory runs out or beyond SESSION_KEPT_MAX; nothing is changed
 * then. */
int session_add(struct session *session, enum frame_type type, const unsigned char *bytes, size_t size);

/* Returns the next bytes to write, with acknowledgements filled in, valid until the next call; *size is 0 if there
 * are none. The caller reports by session_wrote() how many bytes it has written. */
const unsigned char *session_output(struct session *session, size_t *size);

void session_wrote(struct session *session, size_t size);

bool session_is_written(const struct session *session);

/* Makes a BEAT, which acknowledges all input. Call it only if session_is_written(). */
void session_beat(struct session *session, unsigned char out[FRAME_HEAD_BYTES]);

/* Counts a MESSAGE, DATA or BYE of the peer; `size` is the size of the whole frame. */
void session_received(struct session *session, size_t size);

bool session_owes(const struct session *session);

/* Drops acknowledged frames. -1 if the head acknowledges frames that were not written. */
int session_acknowledge(struct session *session, uint32_t received);

bool session_can_resume(const struct session *session, uint64_t received);

/* Resumes the session on a new connection. `received`: how many frames the peer has received. */
void session_resume(struct session *session, uint64_t received);

/* Both count the bytes of heads, too. */
size_t session_unacknowledged(const struct session *session);
size_t session_unwritten(const struct session *session);
