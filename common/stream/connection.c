/* SPDX-License-Identifier: MIT */
/* A connection and its watches: see connection.h. Input is read into one block, from which frames are taken. Output is
 * written without copying: first the frames that belong to no session, then the frames of the session. If a connection
 * is closed while a function of this file works on it, it is freed when that function returns. */
#include "common/stream/connection.h"

#include "common/stream/channel.h"
#include "common/stream/endpoint.h"
#include "common/stream/fifo.h"
#include "common/stream/session.h"
#include "common/stream/world.h"
#include "common/util/error.h"
#include "proto/frame.h"

#include <stdlib.h>
#include <string.h>

static void connection_free(struct connection *connection)
{
    const struct stream_world_ops *ops = connection->world->ops;
    channel_fini(&connection->channel);
    if (connection->readable != NULL)
        ops->watch_free(connection->readable);
    if (connection->writable != NULL)
        ops->watch_free(connection->writable);
    if (connection->awaited != NULL)
        ops->watch_free(connection->awaited);
    fifo_fini(&connection->output);
    free(connection->input);
    free(connection);
}

static void watch_on(const struct connection *connection, struct stream_watch *watch)
{
    connection->world->ops->watch_on(watch);
}

static void watch_off(const struct connection *connection, struct stream_watch *watch)
{
    connection->world->ops->watch_off(watch);
}

void connection_close(struct connection *connection)
{
    if (connection == NULL || connection->state == CONNECTION_CLOSED)
        return;
    connection->state = CONNECTION_CLOSED;
    watch_off(connection, connection->readable);
    watch_off(connection, connection->writable);
    if (connection->awaited != NULL)
        watch_off(connection, connection->awaited);
    channel_fini(&connection->channel);
    if (!connection->is_busy)
        connection_free(connection);
}

/* Delays connection_free() while a function of this file runs. Returns true if a caller of that function delays it
 * already. */
static bool begin_work(struct connection *connection)
{
    const bool was_busy = connection->is_busy;
    connection->is_busy = true;
    return was_busy;
}

static void end_work(struct connection *connection, bool was_busy)
{
    connection->is_busy = was_busy;
    if (!was_busy && connection->state == CONNECTION_CLOSED)
        connection_free(connection);
}

static void connection_end(struct connection *connection, const char *why)
{
    if (connection->state == CONNECTION_CLOSED)
        return;
    connection->user->ended(connection, connection->context, why);
    connection_close(connection);
}

static void wait_to_write(struct connection *connection, bool waits)
{
    if (waits && !connection->waits)
        watch_on(connection, connection->writable);
    else if (!waits && connection->waits)
        watch_off(connection, connection->writable);
    connection->waits = waits;
}

static ssize_t write_some(struct connection *connection)
{
    struct fifo *output = &connection->output;
    size_t size = fifo_size(output);
    const bool is_own = size > 0;
    const unsigned char *bytes = is_own ? fifo_first(output) : NULL;
    if (!is_own && connection->session != NULL)
        bytes = session_output(connection->session, &size);
    if (size == 0)
        return channel_flush(&connection->channel);
    const ssize_t count = channel_write(&connection->channel, bytes, size);
    if (count > 0 && is_own)
        fifo_drop(output, (size_t)count);
    else if (count > 0)
        session_wrote(connection->session, (size_t)count);
    return count;
}

static void pump(struct connection *connection)
{
    ssize_t count;
    bool has_written = false;
    while ((count = write_some(connection)) > 0)
        has_written = true;
    if (has_written)
        connection->sent_ns = world_now(connection->world);
    if (count == CHANNEL_BROKEN || count == CHANNEL_FAILED)
        connection_end(connection, NULL);
    else
        wait_to_write(connection, count == CHANNEL_WRITES);
}

void connection_pump(struct connection *connection)
{
    if (connection->state != CONNECTION_OPEN || connection->waits)
        return;
    const bool was_busy = begin_work(connection);
    pump(connection);
    end_work(connection, was_busy);
}

int connection_send(struct connection *connection, enum frame_type type, const unsigned char *body, size_t size)
{
    const struct frame_head head = {.type = type, .size = (uint32_t)size};
    unsigned char *frame = fifo_append(&connection->output, FRAME_HEAD_BYTES + size);
    if (frame == NULL)
        return -1;
    frame_head_encode(&head, frame);
    if (size > 0)
        memcpy(frame + FRAME_HEAD_BYTES, body, size);
    connection_pump(connection);
    return 0;
}

void connection_beat(struct connection *connection)
{
    unsigned char *frame;
    if (connection->state != CONNECTION_OPEN || fifo_size(&connection->output) > 0)
        return;
    if (connection->session == NULL) {
        connection_send(connection, FRAME_BEAT, NULL, 0);
        return;
    }
    if (session_is_written(connection->session) && (frame = fifo_append(&connection->output, FRAME_HEAD_BYTES)) != NULL)
        session_beat(connection->session, frame);
    connection_pump(connection);
}

static bool take_frame(struct connection *connection)
{
    const size_t size = connection->input_end - connection->input_begin;
    const unsigned char *bytes = connection->input + connection->input_begin;
    struct frame_head head;
    struct error error = {""};
    if (connection->state != CONNECTION_OPEN || connection->is_paused || size < FRAME_HEAD_BYTES)
        return false;
    if (frame_head_decode(&head, bytes, &error) == 0 && FRAME_HEAD_BYTES + head.size > connection->input_capacity)
        error_set(&error, "a frame of %u bytes, more than can be now", (unsigned)head.size);
    if (error.text[0] != '\0') {
        connection_end(connection, error.text);
        return false;
    }
    if (size < FRAME_HEAD_BYTES + head.size)
        return false;
    connection->input_begin += FRAME_HEAD_BYTES + head.size;
    switch (connection->user->receive(connection, connection->context, &head, bytes + FRAME_HEAD_BYTES, &error)) {
    case FRAME_IS_GOOD: return true;
    case FRAME_IS_BAD: connection_end(connection, error.text); return false;
    case FRAME_IS_NOT_TAKEN: connection_end(connection, NULL); return false;
    }
    return false;
}

static void take_frames(struct connection *connection)
{
    while (take_frame(connection))
        ;
    if (connection->state == CONNECTION_OPEN && connection->session != NULL && session_owes(connection->session))
        connection_beat(connection);
}

static void pack_input(struct connection *connection)
{
    const size_t size = connection->input_end - connection->input_begin;
    if (connection->input_begin > 0 && size > 0)
        memmove(connection->input, connection->input + connection->input_begin, size);
    connection->input_begin = 0;
    connection->input_end = size;
}

static void read_all(struct connection *connection)
{
    do {
        pack_input(connection);
        const ssize_t count = channel_read(&connection->channel, connection->input + connection->input_end,
                                           connection->input_capacity - connection->input_end);
        /* A part of a TLS record shows that the peer lives. channel_read() may return no bytes until the rest of the
         * record arrives. */
        if (count > 0 || channel_has_heard(&connection->channel))
            connection->heard_ns = world_now(connection->world);
        if (count == CHANNEL_READS)
            return;
        if (count == CHANNEL_WRITES) {
            wait_to_write(connection, true);
            return;
        }
        if (count < 0) {
            connection_end(connection, NULL);
            return;
        }
        connection->input_end += (size_t)count;
        take_frames(connection);
    } while (connection->state == CONNECTION_OPEN && !connection->is_paused && channel_has_more(&connection->channel));
}

static void shake(struct connection *connection);

static void on_awaited(void *context)
{
    struct connection *connection = context;
    const bool was_busy = begin_work(connection);
    connection->world->ops->watch_free(connection->awaited);
    connection->awaited = NULL;
    watch_on(connection, connection->readable);
    shake(connection);
    end_work(connection, was_busy);
}

static void await(struct connection *connection)
{
    watch_off(connection, connection->readable);
    connection->awaited = connection->world->ops->watch_new(
        connection->world, STREAM_WATCH_READ, channel_awaits(&connection->channel), on_awaited, connection);
    if (connection->awaited == NULL)
        connection_end(connection, NULL);
    else
        watch_on(connection, connection->awaited);
}

static void shake(struct connection *connection)
{
    struct error error = {""};
    const int result = channel_handshake(&connection->channel, &error);
    if (result == CHANNEL_BROKEN || result == CHANNEL_FAILED) {
        connection_end(connection, result == CHANNEL_FAILED ? error.text : NULL);
        return;
    }
    wait_to_write(connection, result == CHANNEL_WRITES);
    if (result == CHANNEL_WAITS)
        await(connection);
    if (result != 0)
        return;
    connection->state = CONNECTION_OPEN;
    connection->heard_ns = connection->sent_ns = world_now(connection->world);
    if (connection->user->opened != NULL)
        connection->user->opened(connection, connection->context);
}

static void on_readable(void *context)
{
    struct connection *connection = context;
    const bool was_busy = begin_work(connection);
    if (connection->state == CONNECTION_SHAKES)
        shake(connection);
    if (connection->state == CONNECTION_OPEN)
        read_all(connection);
    end_work(connection, was_busy);
}

void connection_look(struct connection *connection)
{
    if (connection->state != CONNECTION_OPEN || connection->is_paused || connection->is_busy)
        return;
    begin_work(connection);
    read_all(connection);
    end_work(connection, false);
}

static void on_writable(void *context)
{
    struct connection *connection = context;
    const bool was_busy = begin_work(connection);
    if (connection->state == CONNECTION_CONNECTS) {
        wait_to_write(connection, false);
        connection->refusal = connection->world->ops->connected(connection->channel.fd);
        if (connection->refusal != 0)
            connection_end(connection, NULL);
        else {
            connection->state = CONNECTION_SHAKES;
            watch_on(connection, connection->readable);
        }
    }
    if (connection->state == CONNECTION_SHAKES)
        shake(connection);
    else if (connection->state == CONNECTION_OPEN)
        pump(connection);
    if (connection->state == CONNECTION_OPEN && connection->channel.tls != NULL && !connection->is_paused)
        read_all(connection); /* the last read may have stopped because TLS had to write before it could read */
    end_work(connection, was_busy);
}

void connection_pause(struct connection *connection)
{
    if (connection->is_paused)
        return;
    connection->is_paused = true;
    watch_off(connection, connection->readable);
}

void connection_resume(struct connection *connection)
{
    if (!connection->is_paused)
        return;
    const bool was_busy = begin_work(connection);
    connection->is_paused = false;
    connection->heard_ns = world_now(connection->world);
    watch_on(connection, connection->readable);
    take_frames(connection);
    if (connection->state == CONNECTION_OPEN && !connection->is_paused && channel_has_more(&connection->channel))
        connection->world->ops->watch_call(connection->readable);
    end_work(connection, was_busy);
}

struct connection *connection_new(struct stream_world *world, int fd, bool is_tcp, bool is_connecting, struct tls *tls,
                                  const struct connection_user *user, void *context)
{
    const struct stream_world_ops *ops = world->ops;
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) {
        ops->close(fd);
        return NULL;
    }
    *connection = (struct connection){.world = world, .user = user, .context = context, .channel = {.fd = -1}};
    connection->state = is_connecting ? CONNECTION_CONNECTS : CONNECTION_SHAKES;
    connection->readable = ops->watch_new(world, STREAM_WATCH_READ, fd, on_readable, connection);
    connection->writable = ops->watch_new(world, STREAM_WATCH_WRITE, fd, on_writable, connection);
    if (connection->readable == NULL || connection->writable == NULL ||
        connection_widen(connection, FRAME_HELLO_MAX) < 0 || channel_init(&connection->channel, ops, fd, tls) < 0) {
        ops->close(fd);
        connection->channel.fd = -1;
        connection_free(connection);
        return NULL;
    }
    ops->prepare(fd, is_tcp, connection->name);
    /* Without TLS the connection could be opened at once. But this function must return before any callback runs. */
    wait_to_write(connection, true);
    if (!is_connecting)
        watch_on(connection, connection->readable);
    return connection;
}

void connection_give(struct connection *connection, const struct connection_user *user, void *context)
{
    connection->user = user;
    connection->context = context;
}

int connection_widen(struct connection *connection, size_t body_bytes)
{
    const size_t capacity = FRAME_HEAD_BYTES + body_bytes;
    if (capacity <= connection->input_capacity)
        return 0;
    unsigned char *input = realloc(connection->input, capacity);
    if (input == NULL)
        return -1;
    connection->input = input;
    connection->input_capacity = capacity;
    return 0;
}
