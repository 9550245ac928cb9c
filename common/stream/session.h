/* SPDX-License-Identifier: MIT */
/* A session makes broken connections harmless. The frames of each direction are numbered implicitly from 1. The sender
 * stores each frame until the frame is acknowledged; the receiver counts the frames. The head of each frame also says
 * how many frames its sender has received, and thus acknowledges them. On a new connection both ends exchange their
 * counts, and each end sends the missing frames again. So no frame is lost or duplicated. No sockets or clocks are used
 * here.
 *
 * Invariant: acknowledged <= whole <= written <= acknowledged + stored frames. */
#pragma once

#include "common/stream/fifo.h"
#include "proto/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* If this many bytes of input are unacknowledged, an acknowledgement is sent at once. Otherwise input is acknowledged
 * with the next output. */
#define SESSION_ACK_BYTES (64u << 10)
#define SESSION_KEPT_MAX  ((size_t)1 << 30)

struct session {
    struct fifo kept;
    uint64_t acknowledged;
    uint64_t written; /* number of frames that were written completely, on this or an earlier connection */
    /* Number of frames that were completely written on this connection, or that it need not write because the peer has
     * received them. The peer cannot acknowledge more frames. */
    uint64_t whole;
    size_t written_to;   /* how many bytes of `kept` this connection has written */
    size_t unbegun_from; /* offset in `kept` of the first frame that was not begun on this connection */
    uint64_t received;
    size_t untold_bytes;
};

void session_init(struct session *session);
void session_fini(struct session *session);

/* Stores a MESSAGE, DATA or BYE for output. Returns -1, and changes nothing, if memory runs out or the stored frames
 * would exceed SESSION_KEPT_MAX. */
int session_add(struct session *session, enum frame_type type, const unsigned char *bytes, size_t size);

/* Returns the next bytes to write, with the acknowledgements filled in; *size is 0 if there are no bytes. The bytes are
 * valid until the next call. The caller then tells session_wrote() how many of them it has written. */
const unsigned char *session_output(struct session *session, size_t *size);

void session_wrote(struct session *session, size_t size);

bool session_is_written(const struct session *session);

/* Makes a BEAT, which acknowledges all input. Call it only if session_is_written(). */
void session_beat(struct session *session, unsigned char out[FRAME_HEAD_BYTES]);

/* Counts a MESSAGE, DATA or BYE of the peer; `size` is the size of the whole frame. */
void session_received(struct session *session, size_t size);

bool session_owes(const struct session *session);

/* Drops frames that the peer has acknowledged. Returns -1 if the peer acknowledges frames that were not written. */
int session_acknowledge(struct session *session, uint32_t received);

bool session_can_resume(const struct session *session, uint64_t received);

/* Resumes the session on a new connection. `received`: how many frames the peer has received. */
void session_resume(struct session *session, uint64_t received);

/* The numbers of bytes that these functions return include the heads of frames. */
size_t session_unacknowledged(const struct session *session);
size_t session_unwritten(const struct session *session);
