/* SPDX-License-Identifier: MIT */
/* Code for both ends: see stream.h. Callbacks of libevent put messages into the inbox and record events; streams_poll()
 * returns messages and events. The inbox has two blocks. One block is filled while the other block is read, so that a
 * returned message stays valid. */
#include "common/stream/stream.h"

#include "common/stream/connection.h"
#include "common/stream/fifo.h"
#include "common/stream/peer.h"
#include "common/stream/session.h"
#include "common/stream/tls.h"
#include "common/stream/world.h"
#include "proto/frame.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define NS_PER_MS 1000000
/* Longer than any run. The sum of two such times does not overflow. */
#define LONGEST_NS    (UINT64_C(1) << 62)
#define WARN_EVERY_NS UINT64_C(200000000)

_Static_assert(STREAM_NAME_MAX == FRAME_NAME_BYTES && STREAM_WORDS_MAX == FRAME_WORDS_MAX, "as in frames");
_Static_assert(STREAM_DATA_MAX == FRAME_DATA_MAX, "as in frames");

struct kept_message {
    enum stream_event_type type;
    unsigned peer;
    size_t size;
};

uint64_t streams_now(const struct streams *streams)
{
    return world_now(streams->world);
}

void streams_wake(struct streams *streams, uint64_t at_ns)
{
    const uint64_t now = streams_now(streams);
    if (at_ns >= streams->wakes_ns)
        return;
    const uint64_t due_ns = at_ns > now ? at_ns : now;
    if (streams->wakes_ns == STREAM_NEVER || due_ns < streams->due_ns)
        streams->due_ns = due_ns;
    streams->wakes_ns = at_ns;
    streams->world->ops->watch_at(streams->timer, due_ns - now);
}

static bool is_so_late(const struct streams *streams, uint64_t now)
{
    return now >= streams->due_ns + streams->times.silence_ns / 2;
}

bool streams_have_stood(const struct streams *streams, uint64_t now)
{
    const bool is_pending = streams->wakes_ns != STREAM_NEVER;
    return (is_pending && is_so_late(streams, now)) ||
           (streams->stood_ns != 0 && now < streams->stood_ns + streams->times.silence_ns);
}

static void forgive_silence(struct streams *streams, uint64_t now)
{
    if (!is_so_late(streams, now))
        return;
    streams->stood_ns = now;
    for (size_t i = 0; i < streams->peer_count; i++)
        peer_wait_longer(streams->peers[i], now, now - streams->due_ns);
}

static void on_streams_time(void *context)
{
    struct streams *streams = context;
    const uint64_t now = streams_now(streams);
    uint64_t next = STREAM_NEVER, at;
    forgive_silence(streams, now);
    streams->wakes_ns = 0;
    for (struct stranger *stranger = streams->strangers, *after; stranger != NULL; stranger = after) {
        after = stranger->next;
        if (now >= stranger->deadline_ns)
            stranger_free(stranger);
        else if (stranger->deadline_ns < next)
            next = stranger->deadline_ns;
    }
    for (size_t i = 0; i < streams->peer_count; i++)
        if ((at = peer_tick(streams->peers[i], now)) < next)
            next = at;
    if (streams->joiner != NULL && (at = joiner_tick(streams, now)) < next)
        next = at;
    if (streams->listens_ns != 0 && (at = listeners_tick(streams, now)) < next)
        next = at;
    streams->wakes_ns = STREAM_NEVER;
    if (next != STREAM_NEVER)
        streams_wake(streams, next);
}

void streams_warn(struct streams *streams, const char *format, ...)
{
    const uint64_t now = streams_now(streams);
    struct error line;
    char text[sizeof line.text / 2];
    if (streams->setup.warn == NULL)
        return;
    if (streams->warned_ns != 0 && now < streams->warned_ns + WARN_EVERY_NS) {
        streams->unwarned++;
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (streams->unwarned > 0)
        error_set(&line, "%s; before that %u others of which nothing was said", text, streams->unwarned);
    else
        error_set(&line, "%s", text);
    streams->warned_ns = now;
    streams->unwarned = 0;
    streams->setup.warn(streams->setup.context, line.text);
}

struct streams *streams_new(const struct streams_setup *setup, struct error *error)
{
    struct streams *streams = calloc(1, sizeof *streams);
    if (streams != NULL) {
        streams->setup = *setup;
        if (streams->setup.grace_ns > LONGEST_NS)
            streams->setup.grace_ns = LONGEST_NS;
        streams->times = (struct stream_times){STREAM_BEAT_NS, STREAM_SILENCE_NS, STREAM_HELLO_NS};
        streams->wakes_ns = STREAM_NEVER;
        streams->machine = (struct stream_world){&stream_machine_ops, setup->base};
        streams->world = setup->world != NULL ? setup->world : &streams->machine;
        streams->timer =
            streams->world->ops->watch_new(streams->world, STREAM_WATCH_TIME, -1, on_streams_time, streams);
        if (streams->timer != NULL)
            return streams;
    }
    free(streams);
    error_set(error, "out of memory for the streams to pods");
    return NULL;
}

void streams_free(struct streams *streams)
{
    if (streams == NULL)
        return;
    for (size_t i = 0; i < streams->listener_count; i++)
        listener_fini(&streams->listeners[i]);
    while (streams->strangers != NULL)
        stranger_free(streams->strangers);
    for (size_t i = 0; i < streams->peer_count; i++)
        peer_free(streams->peers[i]);
    joiner_free(streams->joiner);
    fifo_fini(&streams->inbox);
    fifo_fini(&streams->polled);
    streams->world->ops->watch_free(streams->timer);
    tls_free(streams->tls);
    free(streams->listeners);
    free(streams->peers);
    free(streams);
}

int streams_keep(struct streams *streams, struct peer *peer, enum stream_event_type type, const unsigned char *bytes,
                 size_t size)
{
    const struct kept_message kept = {type, peer->number, size};
    unsigned char *room = fifo_append(&streams->inbox, sizeof kept + size);
    if (room == NULL)
        return -1;
    memcpy(room, &kept, sizeof kept);
    memcpy(room + sizeof kept, bytes, size);
    peer->kept++;
    streams->is_full = fifo_size(&streams->inbox) >= INBOX_MAX;
    return 0;
}

static void turn_inbox(struct streams *streams)
{
    const struct fifo polled = streams->polled;
    const bool was_full = streams->is_full;
    streams->polled = streams->inbox;
    streams->inbox = polled;
    streams->is_full = false;
    for (size_t i = 0; was_full && i < streams->peer_count; i++)
        if (streams->peers[i]->connection != NULL)
            connection_resume(streams->peers[i]->connection);
}

/* Takes the next message of any peer into `event`, and returns the peer that has sent it. Returns NULL if there is no
 * message. A peer is not freed while messages of it are stored. */
static struct peer *poll_message(struct streams *streams, struct stream_event *event)
{
    struct kept_message kept;
    if (streams->polled_bytes > 0)
        fifo_drop(&streams->polled, streams->polled_bytes);
    streams->polled_bytes = 0;
    if (fifo_size(&streams->polled) == 0 && fifo_size(&streams->inbox) > 0)
        turn_inbox(streams);
    if (fifo_size(&streams->polled) == 0)
        return NULL;
    const unsigned char *first = fifo_first(&streams->polled);
    memcpy(&kept, first, sizeof kept);
    streams->polled_bytes = sizeof kept + kept.size;
    *event = (struct stream_event){kept.type, kept.peer, first + sizeof kept, kept.size, {.workers = 0}};
    struct peer *peer = peer_find(streams, kept.peer);
    peer->kept--;
    streams->due += peer->is_due && peer->kept == 0;
    return peer;
}

/* Frees peers that have ended and have no more events to report. The joining end keeps its only peer even then: the
 * existence of this peer shows that this end has joined. */
static void forget_gone(struct streams *streams)
{
    size_t kept = 0;
    if (streams->gone == 0 || streams->joiner != NULL)
        return;
    for (size_t i = 0; i < streams->peer_count; i++) {
        struct peer *peer = streams->peers[i];
        if (peer->state != PEER_IS_GONE || peer->is_due || peer->kept > 0 || peer->is_unflushed) {
            streams->peers[kept++] = peer;
            continue;
        }
        streams->gone--;
        peer_free(peer);
    }
    streams->peer_count = kept;
}

static bool poll_peer(struct streams *streams, struct stream_event *event)
{
    if (streams->due == 0)
        return false;
    forget_gone(streams);
    size_t i = 0;
    while (!streams->peers[i]->is_due || streams->peers[i]->kept > 0)
        i++;
    struct peer *peer = streams->peers[i];
    peer_tell_nothing(peer);
    *event = (struct stream_event){peer->due, peer->number, NULL, 0, peer->lineup};
    return true;
}

/* Events of peers are returned before messages, because the messages may never end. */
bool streams_poll(struct streams *streams, struct stream_event *event)
{
    const struct peer *peer;
    if (poll_peer(streams, event))
        return true;
    while ((peer = poll_message(streams, event)) != NULL)
        if (!peer->is_dropped)
            return true;
    if (poll_peer(streams, event))
        return true;
    forget_gone(streams);
    return false;
}

/* If there are at most this many connections, their sockets are read directly. Otherwise the event base runs, which
 * costs about this many system calls. */
#define LOOK_CONNECTED_MAX 3
#define LOOK_PEERS_MAX     64

static bool list_few_connections(struct streams *streams, struct connection *few[LOOK_CONNECTED_MAX], unsigned *count)
{
    *count = 0;
    if (streams->peer_count > LOOK_PEERS_MAX)
        return false;
    for (size_t i = 0; i < streams->peer_count; i++) {
        if (streams->peers[i]->connection == NULL)
            continue;
        if (*count == LOOK_CONNECTED_MAX)
            return false;
        few[(*count)++] = streams->peers[i]->connection;
    }
    return true;
}

void streams_look(struct streams *streams)
{
    struct connection *few[LOOK_CONNECTED_MAX];
    unsigned count;
    if (list_few_connections(streams, few, &count))
        for (unsigned i = 0; i < count; i++)
            connection_look(few[i]);
    else
        streams->world->ops->turn(streams->world, false);
}

int streams_welcome(struct streams *streams, unsigned number, const struct stream_welcome *welcome)
{
    struct peer *peer = peer_find(streams, number);
    unsigned char *body = malloc(FRAME_WELCOME_BYTES + welcome->words_bytes);
    struct frame_welcome frame = {
        .first_rank = welcome->first_rank,
        .beat_ms = (uint32_t)(streams->times.beat_ns / NS_PER_MS),
        .words = welcome->words,
        .words_bytes = welcome->words_bytes,
    };
    int result = 0;
    assert(welcome->words_bytes <= STREAM_WORDS_MAX);
    assert(welcome->words_bytes == 0 || welcome->words[welcome->words_bytes - 1] == '\0');
    if (body == NULL || getrandom(frame.token, sizeof frame.token, 0) != sizeof frame.token)
        result = -1;
    if (peer == NULL || peer->state != PEER_ASKS || result < 0) {
        free(body);
        if (result < 0)
            streams_refuse(streams, number, "out of memory");
        return result;
    }
    frame_welcome_encode(&frame, body);
    result = connection_send(peer->connection, FRAME_WELCOME, body, FRAME_WELCOME_BYTES + welcome->words_bytes);
    free(body);
    if (result < 0)
        streams_refuse(streams, number, "out of memory");
    if (peer->state != PEER_ASKS)
        return result;
    memcpy(peer->token, frame.token, sizeof peer->token);
    peer->first_rank = welcome->first_rank;
    peer->state = PEER_STAYS;
    streams->waiting--;
    peer_go_on(peer, peer->connection, 0);
    return 0;
}

void streams_refuse(struct streams *streams, unsigned number, const char *line)
{
    struct peer *peer = peer_find(streams, number);
    if (peer == NULL || peer->state != PEER_ASKS)
        return;
    struct connection *connection = peer->connection;
    peer->connection = NULL;
    peer_end(peer, false, STREAM_LOST);
    stranger_refuse(streams, connection, line);
}

static bool peer_is_open(const struct peer *peer)
{
    return peer->state == PEER_STAYS && !peer->has_left && !peer->is_parted;
}

static void note_unflushed(struct streams *streams, struct peer *peer)
{
    if (peer->is_unflushed)
        return;
    peer->is_unflushed = true;
    peer->next_unflushed = streams->unflushed;
    streams->unflushed = peer;
}

static int send_frame(struct streams *streams, unsigned number, enum frame_type type, const unsigned char *bytes,
                      size_t size)
{
    struct peer *peer = peer_find(streams, number);
    if (peer == NULL || !peer_is_open(peer))
        return 0;
    if (session_add(&peer->session, type, bytes, size) < 0)
        return -1;
    if (streams->gathers)
        note_unflushed(streams, peer);
    else if (peer->connection != NULL)
        connection_pump(peer->connection);
    return 0;
}

int streams_send(struct streams *streams, unsigned number, const unsigned char *bytes, size_t size)
{
    return send_frame(streams, number, FRAME_MESSAGE, bytes, size);
}

int streams_send_data(struct streams *streams, unsigned number, const unsigned char *bytes, size_t size)
{
    assert(streams->joiner != NULL);
    return send_frame(streams, number, FRAME_DATA, bytes, size);
}

void streams_gather(struct streams *streams)
{
    streams->gathers = true;
}

void streams_flush(struct streams *streams)
{
    while (streams->unflushed != NULL) {
        struct peer *peer = streams->unflushed;
        streams->unflushed = peer->next_unflushed;
        peer->is_unflushed = false;
        if (peer->connection != NULL)
            connection_pump(peer->connection);
    }
}

size_t streams_unsent(const struct streams *streams, unsigned number)
{
    const struct peer *peer = peer_find(streams, number);
    return peer != NULL ? session_unacknowledged(&peer->session) : 0;
}

/* If more bytes of output than this wait for the socket, no data are accepted. */
#define UNWRITTEN_MAX ((size_t)256 << 10)

bool streams_has_room(const struct streams *streams, unsigned number)
{
    const struct peer *peer = peer_find(streams, number);
    return peer == NULL || (session_unwritten(&peer->session) < UNWRITTEN_MAX &&
                            session_unacknowledged(&peer->session) < STREAM_UNACKNOWLEDGED_MAX);
}

bool streams_is_open(const struct streams *streams, unsigned number)
{
    const struct peer *peer = peer_find(streams, number);
    return peer != NULL && peer_is_open(peer);
}

void streams_part(struct streams *streams, unsigned number)
{
    struct peer *peer = peer_find(streams, number);
    if (peer == NULL || !peer_is_open(peer) || session_add(&peer->session, FRAME_BYE, NULL, 0) < 0)
        return;
    peer->is_parted = true;
    if (peer->connection != NULL)
        connection_pump(peer->connection);
}

void streams_drop(struct streams *streams, unsigned number)
{
    struct peer *peer = peer_find(streams, number);
    if (peer == NULL)
        return;
    peer_end(peer, false, STREAM_LOST);
    peer->is_dropped = true;
    peer_tell_nothing(peer);
}

bool streams_are_flushed(const struct streams *streams)
{
    for (size_t i = 0; i < streams->peer_count; i++) {
        const struct peer *peer = streams->peers[i];
        if (peer->state == PEER_STAYS && !peer->has_left && session_unacknowledged(&peer->session) > 0)
            return false;
    }
    return true;
}

const struct stream_address *streams_address(const struct streams *streams, size_t index)
{
    assert(index < streams->listener_count);
    return &streams->listeners[index].address;
}
