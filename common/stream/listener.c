/* SPDX-License-Identifier: MIT */
/* The listening end. A connection counts as a stranger until its HELLO has arrived. A stranger that sends no HELLO gets
 * no answer. The number of strangers, their memory and their time are limited. If there is no place for a new stranger,
 * it replaces the oldest stranger without a HELLO. So silent strangers cannot keep pods out. */
#include "common/stream/peer.h"

#include "common/stream/connection.h"
#include "common/stream/endpoint.h"
#include "common/stream/greeting.h"
#include "common/stream/session.h"
#include "common/stream/stream.h"
#include "common/stream/tls.h"
#include "common/util/error.h"
#include "proto/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1000000
/* How long no connections are accepted after the process has run out of descriptors. */
#define LISTEN_AGAIN_NS UINT64_C(1000000000)

static struct stranger *stranger_new(struct streams *streams)
{
    struct stranger *stranger = calloc(1, sizeof *stranger);
    if (stranger == NULL)
        return NULL;
    stranger->streams = streams;
    stranger->deadline_ns = streams_now(streams) + streams->times.hello_ns;
    stranger->next = streams->strangers;
    stranger->link = &streams->strangers;
    if (stranger->next != NULL)
        stranger->next->link = &stranger->next;
    streams->strangers = stranger;
    streams->waiting++;
    streams_wake(streams, stranger->deadline_ns);
    return stranger;
}

void stranger_free(struct stranger *stranger)
{
    *stranger->link = stranger->next;
    if (stranger->next != NULL)
        stranger->next->link = stranger->link;
    stranger->streams->waiting--;
    connection_close(stranger->connection);
    free(stranger);
}

static void stranger_release(struct stranger *stranger)
{
    stranger->connection = NULL;
    stranger_free(stranger);
}

static enum connection_verdict receive_nothing(struct connection *connection, void *context,
                                               const struct frame_head *head, const unsigned char *body,
                                               struct error *error)
{
    (void)connection, (void)context, (void)head, (void)body, (void)error;
    return FRAME_IS_GOOD;
}

static void end_refused(struct connection *connection, void *context, const char *why)
{
    (void)connection, (void)why;
    stranger_release(context);
}

static const struct connection_user refused_user = {.receive = receive_nothing, .ended = end_refused};

void stranger_refuse(struct streams *streams, struct connection *connection, const char *line)
{
    struct stranger *stranger = stranger_new(streams);
    struct error text;
    error_set(&text, "%.*s", TEXT_MAX, line[0] != '\0' ? line : "no reason is given");
    if (stranger == NULL) {
        connection_close(connection);
        return;
    }
    stranger->connection = connection;
    connection_give(connection, &refused_user, stranger);
    if (connection_send(connection, FRAME_REFUSED, (const unsigned char *)text.text, strlen(text.text)) < 0)
        stranger_free(stranger);
}

static struct peer *find_by_token(const struct streams *streams, const unsigned char *token)
{
    for (size_t i = 0; i < streams->peer_count; i++)
        if (streams->peers[i]->state == PEER_STAYS && memcmp(streams->peers[i]->token, token, FRAME_TOKEN_BYTES) == 0)
            return streams->peers[i];
    return NULL;
}

/* Returns whether the HELLO is out of date, because the peer has returned by a newer connection meanwhile. A peer makes
 * one attempt at a time, so only the newest attempt counts. */
static bool is_out_of_date(const struct peer *peer, const struct connection *connection,
                           const struct frame_hello *hello)
{
    return hello->received < peer->session.acknowledged || connection->number < peer->newest;
}

static enum connection_verdict take_returning(struct streams *streams, struct connection *connection,
                                              const struct frame_hello *hello)
{
    struct peer *peer = find_by_token(streams, hello->token);
    unsigned char body[FRAME_WELCOME_BYTES];
    if (peer == NULL) {
        stranger_refuse(streams, connection, "this set has taken the pod for lost");
        return FRAME_IS_GOOD;
    }
    if (is_out_of_date(peer, connection, hello)) {
        connection_close(connection);
        return FRAME_IS_GOOD;
    }
    if (!session_can_resume(&peer->session, hello->received)) {
        streams_warn(streams, "pod %s at %s has broken the protocol: it has received what it was not sent",
                     peer->lineup.name, connection->name);
        peer_end(peer, true, STREAM_LOST);
        stranger_refuse(streams, connection, "the pod has received what it was not sent");
        return FRAME_IS_GOOD;
    }
    struct frame_welcome welcome = {
        .received = peer->session.received,
        .first_rank = peer->first_rank,
        .beat_ms = (uint32_t)(streams->times.beat_ns / NS_PER_MS),
    };
    memcpy(welcome.token, peer->token, sizeof welcome.token);
    frame_welcome_encode(&welcome, body);
    peer_greet(peer, connection);
    if (connection_send(connection, FRAME_WELCOME, body, sizeof body) < 0)
        return FRAME_IS_NOT_TAKEN;
    if (peer->connection == connection)
        peer_go_on(peer, connection, hello->received);
    return FRAME_IS_GOOD;
}

static void take_new(struct streams *streams, struct connection *connection, const struct frame_hello *hello)
{
    struct stream_lineup lineup = {.workers = hello->workers, .cores = hello->cores};
    memcpy(lineup.name, hello->name, sizeof lineup.name);
    struct peer *peer = peer_new(streams, &lineup);
    if (peer == NULL)
        stranger_refuse(streams, connection, "this set has no room for another pod");
    else
        peer_take(peer, connection);
}

static enum connection_verdict receive_hello(struct connection *connection, void *context,
                                             const struct frame_head *head, const unsigned char *body,
                                             struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct stranger *stranger = context;
    struct streams *streams = stranger->streams;
    struct frame_hello hello;
    static const unsigned char none[FRAME_TOKEN_BYTES];
    if (head->type != FRAME_HELLO) {
        error_set(error, "it does not begin with a hello");
        return FRAME_IS_BAD;
    }
    const int result = frame_hello_decode(&hello, body, head->size, error);
    if (result < 0)
        return FRAME_IS_BAD;
    stranger_release(stranger);
    if (result == FRAME_OTHER_VERSION) {
        streams_warn(streams, "a pod at %s was sent away: %s", connection->name, error->text);
        stranger_refuse(streams, connection, error->text);
    } else if (memcmp(hello.token, none, sizeof none) == 0)
        take_new(streams, connection, &hello);
    else
        return take_returning(streams, connection, &hello);
    return FRAME_IS_GOOD;
}

static void end_stranger(struct connection *connection, void *context, const char *why)
{
    struct stranger *stranger = context;
    if (why != NULL)
        streams_warn(stranger->streams, "a stranger at %s was sent away: %s", connection->name, why);
    stranger_release(stranger);
}

static const struct connection_user stranger_user = {.receive = receive_hello, .ended = end_stranger};

static void drop_oldest_mute(struct streams *streams)
{
    struct stranger *oldest = NULL;
    for (struct stranger *stranger = streams->strangers; stranger != NULL; stranger = stranger->next)
        if (stranger->connection->user == &stranger_user)
            oldest = stranger;
    if (oldest != NULL)
        stranger_free(oldest);
}

static void accept_one(struct listener *listener, int fd)
{
    struct streams *streams = listener->streams;
    const bool is_tcp = stream_address_is_tcp(&listener->address);
    struct stranger *stranger;
    uid_t user;
    if (!is_tcp && !streams->world->ops->is_own(fd, &user)) {
        streams_warn(streams, "a stranger was sent away: it is of user %u", (unsigned)user);
        streams->world->ops->close(fd);
        return;
    }
    if (streams->waiting >= STRANGERS_MAX)
        drop_oldest_mute(streams);
    if (streams->waiting >= STRANGERS_MAX || (stranger = stranger_new(streams)) == NULL) {
        streams->world->ops->close(fd);
        return;
    }
    stranger->connection =
        connection_new(streams->world, fd, is_tcp, false, is_tcp ? streams->tls : NULL, &stranger_user, stranger);
    struct greeting *greeting = is_tcp ? greeting_new(false) : NULL;
    if (stranger->connection == NULL || (is_tcp && greeting == NULL)) {
        greeting_free(greeting);
        stranger_free(stranger);
        return;
    }
    stranger->connection->number = ++streams->accepted;
    channel_greet(&stranger->connection->channel, greeting);
}

static void on_connections(void *context)
{
    struct listener *listener = context;
    const struct stream_world_ops *ops = listener->streams->world->ops;
    int fd;
    while ((fd = ops->accept(listener->fd)) >= 0)
        accept_one(listener, fd);
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        for (size_t i = 0; i < listener->streams->listener_count; i++)
            listener->streams->world->ops->watch_off(listener->streams->listeners[i].watch);
        listener->streams->listens_ns = streams_now(listener->streams) + LISTEN_AGAIN_NS;
        streams_wake(listener->streams, listener->streams->listens_ns);
    }
}

uint64_t listeners_tick(struct streams *streams, uint64_t now)
{
    if (now < streams->listens_ns)
        return streams->listens_ns;
    streams->listens_ns = 0;
    for (size_t i = 0; i < streams->listener_count; i++)
        streams->world->ops->watch_on(streams->listeners[i].watch);
    return STREAM_NEVER;
}

static int listener_init(struct listener *listener, struct streams *streams, const struct stream_address *address,
                         struct error *error)
{
    const struct stream_world_ops *ops = streams->world->ops;
    char text[STREAM_ADDRESS_TEXT_MAX];
    *listener = (struct listener){.streams = streams, .address = *address};
    stream_address_print(address, text);
    if (stream_address_is_tcp(address) && streams->setup.key == NULL)
        return error_set(error, "cannot listen at %s: a port takes a shared key", text);
    if (stream_address_is_tcp(address) && streams->tls == NULL &&
        (streams->tls = tls_new(streams->setup.key, true, error)) == NULL)
        return -1;
    listener->fd = ops->listen(&listener->address, &listener->file, error);
    if (listener->fd < 0)
        return -1;
    listener->watch = ops->watch_new(streams->world, STREAM_WATCH_READ, listener->fd, on_connections, listener);
    if (listener->watch == NULL) {
        ops->close(listener->fd);
        ops->unlink(&listener->address, &listener->file);
        return error_set(error, "cannot listen at %s: out of memory", text);
    }
    ops->watch_on(listener->watch);
    return 0;
}

void listener_fini(struct listener *listener)
{
    const struct stream_world_ops *ops = listener->streams->world->ops;
    ops->watch_free(listener->watch);
    ops->close(listener->fd);
    ops->unlink(&listener->address, &listener->file);
}

struct streams *streams_listen(const struct streams_setup *setup, const struct stream_address *addresses, size_t count,
                               struct error *error)
{
    struct streams *streams = streams_new(setup, error);
    if (streams == NULL)
        return NULL;
    streams->listeners = calloc(count, sizeof *streams->listeners);
    if (streams->listeners == NULL)
        error_set(error, "out of memory for the streams to pods");
    while (streams->listeners != NULL && streams->listener_count < count &&
           listener_init(&streams->listeners[streams->listener_count], streams, &addresses[streams->listener_count],
                         error) == 0)
        streams->listener_count++;
    if (streams->listener_count == count)
        return streams;
    streams_free(streams);
    return NULL;
}
