/* SPDX-License-Identifier: MIT */
/* A session: what makes a broken connection harmless. The messages of each direction are numbered by their order, from
 * 1 on, without a number on the wire. The sender keeps each as a frame until the other end has acknowledged it; the
 * receiver counts. Each frame's head acknowledges what its sender has received. On a new connection both ends say how
 * many they have, and the rest is sent again: nothing is lost, and nothing comes twice. Here are no sockets and no
 * clock.
 *
 * Invariant: acknowledged <= whole <= written <= acknowledged + frames kept. */
#pragma once

#include "common/stream/fifo.h"
#include "proto/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that are received without an acknowledgement before one is sent by itself. */
#define SESSION_ACK_BYTES (64u << 10)
/* Bytes of frames that a session keeps at most. */
#define SESSION_KEPT_MAX ((size_t)1 << 30)

struct session {
    struct fifo kept;      /* frames that are not acknowledged, heads included */
    uint64_t acknowledged; /* frames that the other end has */
    uint64_t written;      /* frames that were written as a whole, on any connection */
    uint64_t whole;      /* the same on this connection, with those that it did not need: no more can be acknowledged */
    size_t written_to;   /* bytes of `kept` that were written on this connection */
    size_t unbegun_from; /* where the first frame of which nothing was written begins in `kept` */
    uint64_t received;   /* frames of the other end */
    size_t untold_bytes; /* of frames that were received and are not acknowledged */
};

void session_init(struct session *session);
void session_fini(struct session *session);

/* Keeps a MESSAGE, DATA or BYE to be written. -1 when memory is out, and beyond SESSION_KEPT_MAX: all is as it was. */
int session_add(struct session *session, enum frame_type type, const unsigned char *bytes, size_t size);

/* The next bytes to write, which acknowledge all that was received; *size is 0 where there are none. They last until
 * the next call. */
const unsigned char *session_output(struct session *session, size_t *size);

/* Notes that the first `size` of these bytes were written. */
void session_wrote(struct session *session, size_t size);

/* True where nothing waits to be written: another frame may be, which is no part of the session. */
bool session_is_written(const struct session *session);

/* Writes a BEAT, which acknowledges all that was received. To be written only where session_is_written(). */
void session_beat(struct session *session, unsigned char out[FRAME_HEAD_BYTES]);

/* Notes a MESSAGE, DATA or BYE of the other end; `size` is that of the whole frame. */
void session_received(struct session *session, size_t size);

/* True if so much was received without an acknowledgement that a BEAT is due. */
bool session_owes(const struct session *session);

/* Drops the frames that a head acknowledges. -1 if it acknowledges more than was written. */
int session_acknowledge(struct session *session, uint32_t received);

/* False where the other end cannot have `received` frames, or has had more. */
bool session_can_resume(const struct session *session, uint64_t received);

/* Resumes the session on a new connection. `received`: how many frames the other end has. */
void session_resume(struct session *session, uint64_t received);

/* Bytes that are not acknowledged, and those of them that are not written yet, heads included. */
size_t session_unacknowledged(const struct session *session);
size_t session_unwritten(const struct session *session);
