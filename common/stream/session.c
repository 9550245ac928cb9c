/* SPDX-License-Identifier: MIT */
/* Unacknowledged frames: see session.h. Frames are stored in one piece of memory, in the form in which they are sent.
 * Only the acknowledgement in the head of a frame is filled in later, when the frame is about to be written. */
#include "common/stream/session.h"

#include "common/stream/fifo.h"
#include "proto/frame.h"
#include "proto/wire.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SESSION_WRITE_MAX ((size_t)256 << 10)
#define HEAD_AT_RECEIVED  4

void session_init(struct session *session)
{
    *session = (struct session){0};
    fifo_init(&session->kept);
}

void session_fini(struct session *session)
{
    fifo_fini(&session->kept);
}

int session_add(struct session *session, enum frame_type type, const unsigned char *bytes, size_t size)
{
    assert((type == FRAME_MESSAGE && size > 0 && size <= MESSAGE_MAX) ||
           (type == FRAME_DATA && size > 0 && size <= FRAME_DATA_MAX) || (type == FRAME_BYE && size == 0));
    if (fifo_size(&session->kept) + FRAME_HEAD_BYTES + size > SESSION_KEPT_MAX)
        return -1;
    unsigned char *frame = fifo_append(&session->kept, FRAME_HEAD_BYTES + size);
    if (frame == NULL)
        return -1;
    frame_head_encode(&(struct frame_head){.type = type, .size = (uint32_t)size}, frame);
    if (size > 0)
        memcpy(frame + FRAME_HEAD_BYTES, bytes, size);
    return 0;
}

static size_t kept_frame_bytes(const struct session *session, size_t at)
{
    return FRAME_HEAD_BYTES + (wire_get32(fifo_first(&session->kept) + at) >> 8);
}

const unsigned char *session_output(struct session *session, size_t *size)
{
    size_t end = session->unbegun_from;
    while (end < fifo_size(&session->kept) && end - session->written_to < SESSION_WRITE_MAX) {
        wire_put32(fifo_first(&session->kept) + end + HEAD_AT_RECEIVED, (uint32_t)session->received);
        end += kept_frame_bytes(session, end);
    }
    *size = end - session->written_to;
    return fifo_first(&session->kept) + session->written_to;
}

void session_wrote(struct session *session, size_t size)
{
    session->written_to += size;
    assert(session->written_to <= fifo_size(&session->kept));
    if (size > 0 && session->unbegun_from > session->written_to - size && session->unbegun_from <= session->written_to)
        session->whole++;
    while (session->unbegun_from < session->written_to) {
        session->unbegun_from += kept_frame_bytes(session, session->unbegun_from);
        session->whole += session->unbegun_from <= session->written_to;
        session->untold_bytes = 0;
    }
    if (session->whole > session->written)
        session->written = session->whole;
}

bool session_is_written(const struct session *session)
{
    return session->written_to == fifo_size(&session->kept);
}

void session_beat(struct session *session, unsigned char out[FRAME_HEAD_BYTES])
{
    assert(session_is_written(session));
    frame_head_encode(&(struct frame_head){.type = FRAME_BEAT, .received = (uint32_t)session->received}, out);
    session->untold_bytes = 0;
}

void session_received(struct session *session, size_t size)
{
    session->received++;
    session->untold_bytes += size;
}

bool session_owes(const struct session *session)
{
    return session->untold_bytes >= SESSION_ACK_BYTES;
}

static void drop_acknowledged(struct session *session, uint64_t count)
{
    size_t bytes = 0;
    for (uint64_t i = 0; i < count; i++)
        bytes += kept_frame_bytes(session, bytes);
    fifo_drop(&session->kept, bytes);
    session->acknowledged += count;
    session->written_to -= bytes;
    session->unbegun_from -= bytes;
}

int session_acknowledge(struct session *session, uint32_t received)
{
    const uint32_t more = received - (uint32_t)session->acknowledged;
    if (more > session->whole - session->acknowledged)
        return -1;
    drop_acknowledged(session, more);
    return 0;
}

bool session_can_resume(const struct session *session, uint64_t received)
{
    return received >= session->acknowledged && received <= session->written;
}

void session_resume(struct session *session, uint64_t received)
{
    assert(session_can_resume(session, received));
    /* Both offsets are reset below. Until then they must be large, because drop_acknowledged() subtracts the dropped
     * bytes from them. */
    session->written_to = session->unbegun_from = fifo_size(&session->kept);
    drop_acknowledged(session, received - session->acknowledged);
    session->written_to = session->unbegun_from = 0;
    session->whole = session->acknowledged;
    session->untold_bytes = 0;
}

size_t session_unacknowledged(const struct session *session)
{
    return fifo_size(&session->kept);
}

size_t session_unwritten(const struct session *session)
{
    return fifo_size(&session->kept) - session->written_to;
}
