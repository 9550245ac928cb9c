/* SPDX-License-Identifier: MIT */
/* The life of a peer: it asks to join, stays while its connections come and go, and ends. The session of a peer
 * outlives its connections. The events of a peer are recorded here. streams_poll() returns an event after all earlier
 * messages of the same peer. The order between different peers is not defined. Invariant: after an event was recorded,
 * no further message comes from the peer. */
#include "common/stream/peer.h"

#include "common/stream/connection.h"
#include "common/stream/session.h"
#include "common/util/error.h"
#include "common/util/grow.h"
#include "proto/frame.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Size of one read, at least the size of the longest frame. */
#define PEER_INPUT_BYTES (256u << 10)
_Static_assert(PEER_INPUT_BYTES >= FRAME_DATA_MAX, "any frame can be taken");

struct peer *peer_new(struct streams *streams, const struct stream_lineup *lineup)
{
    struct peer **peers = grow(streams->peers, streams->peer_count, &streams->peer_capacity, sizeof *streams->peers);
    if (peers == NULL)
        return NULL;
    streams->peers = peers;
    if (streams->peer_count >= STREAM_PEERS_MAX || streams->next_number == UINT_MAX)
        return NULL;
    struct peer *peer = calloc(1, sizeof *peer);
    if (peer == NULL)
        return NULL;
    peer->streams = streams;
    peer->number = streams->next_number++;
    peer->lineup = *lineup;
    session_init(&peer->session);
    peers[streams->peer_count++] = peer;
    return peer;
}

void peer_free(struct peer *peer)
{
    connection_close(peer->connection);
    session_fini(&peer->session);
    free(peer);
}

struct peer *peer_find(const struct streams *streams, unsigned number)
{
    size_t low = 0, high = streams->peer_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (streams->peers[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < streams->peer_count && streams->peers[low]->number == number ? streams->peers[low] : NULL;
}

static void note_due(struct peer *peer, enum stream_event_type due)
{
    peer->streams->due += !peer->is_due && peer->kept == 0;
    peer->is_due = true;
    peer->due = due;
}

void peer_tell_nothing(struct peer *peer)
{
    peer->streams->due -= peer->is_due && peer->kept == 0;
    peer->is_due = false;
}

void peer_end(struct peer *peer, bool is_told, enum stream_event_type told)
{
    if (peer->state == PEER_IS_GONE)
        return;
    if (peer->state == PEER_ASKS) {
        peer->streams->waiting--;
        if (peer->is_due) {
            peer_tell_nothing(peer);
            is_told = false;
        }
    }
    peer->state = PEER_IS_GONE;
    peer->streams->gone++;
    connection_close(peer->connection);
    peer->connection = NULL;
    session_fini(&peer->session);
    if (is_told && !peer->is_parted && !peer->has_left)
        note_due(peer, told);
}

static enum connection_verdict receive_from_peer(struct connection *connection, void *context,
                                                 const struct frame_head *head, const unsigned char *body,
                                                 struct error *error)
{
    struct peer *peer = context;
    const size_t size = FRAME_HEAD_BYTES + head->size;
    const bool is_counted = head->type != FRAME_BEAT, is_kept = is_counted && head->type != FRAME_BYE;
    if (head->type < FRAME_MESSAGE || (is_counted && peer->has_left) ||
        (head->type == FRAME_DATA && peer->streams->joiner != NULL)) {
        error_set(error, "a frame of type %u where there can be none", (unsigned)head->type);
        return FRAME_IS_BAD;
    }
    if (session_acknowledge(&peer->session, head->received) < 0) {
        error_set(error, "it acknowledges what it was not sent");
        return FRAME_IS_BAD;
    }
    if (is_kept && streams_keep(peer->streams, peer, head->type == FRAME_DATA ? STREAM_DATA : STREAM_MESSAGE, body,
                                head->size) < 0)
        return FRAME_IS_NOT_TAKEN;
    if (is_counted)
        session_received(&peer->session, size);
    if (head->type == FRAME_BYE) {
        note_due(peer, STREAM_LEFT);
        peer->has_left = true;
        connection_beat(peer->connection);
    }
    if (peer->is_parted && session_unacknowledged(&peer->session) == 0)
        peer_end(peer, false, STREAM_LEFT);
    else if (is_kept && peer->streams->is_full)
        connection_pause(connection);
    return FRAME_IS_GOOD;
}

static void end_peers_connection(struct connection *connection, void *context, const char *why)
{
    struct peer *peer = context;
    struct streams *streams = peer->streams;
    peer->connection = NULL;
    if (why != NULL) {
        streams_warn(streams, "pod %s at %s has broken the protocol: %s", peer->lineup.name, connection->name, why);
        peer_end(peer, true, STREAM_LOST);
        return;
    }
    const uint64_t now = streams_now(streams);
    /* Two cases get the full grace time: the peer was silent, or it may have closed the connection because this end was
     * stopped. Otherwise the shorter time for a closed connection is used. */
    const bool has_patience = peer->is_silent || streams_have_stood(streams, now);
    peer->gone_ns = now + (has_patience ? streams->setup.grace_ns : streams->setup.closed_ns);
    peer->is_silent = false;
    streams_wake(streams, peer->gone_ns);
    if (streams->joiner != NULL && !peer->has_left)
        joiner_lost(streams);
}

static const struct connection_user peer_user = {.receive = receive_from_peer, .ended = end_peers_connection};

void peer_greet(struct peer *peer, struct connection *connection)
{
    if (peer->connection != connection)
        connection_close(peer->connection);
    peer->connection = connection;
    peer->newest = connection->number;
    connection_give(connection, &peer_user, peer);
}

void peer_go_on(struct peer *peer, struct connection *connection, uint64_t received)
{
    peer_greet(peer, connection);
    session_resume(&peer->session, received);
    connection->session = &peer->session;
    if (connection_widen(connection, PEER_INPUT_BYTES) < 0) {
        end_peers_connection(connection, peer, NULL);
        connection_close(connection);
        return;
    }
    streams_wake(peer->streams, 0);
    if (peer->is_parted && session_unacknowledged(&peer->session) == 0)
        peer_end(peer, false, STREAM_LEFT);
    else
        connection_pump(connection);
}

static enum connection_verdict receive_while_asking(struct connection *connection, void *context,
                                                    const struct frame_head *head, const unsigned char *body,
                                                    struct error *error)
{
    (void)connection, (void)context, (void)body;
    if (head->type == FRAME_BEAT && head->received == 0)
        return FRAME_IS_GOOD;
    error_set(error, "a frame of type %u before it was welcomed", (unsigned)head->type);
    return FRAME_IS_BAD;
}

static void end_while_asking(struct connection *connection, void *context, const char *why)
{
    struct peer *peer = context;
    if (why != NULL)
        streams_warn(peer->streams, "pod %s at %s was sent away: %s", peer->lineup.name, connection->name, why);
    peer->connection = NULL;
    peer_end(peer, true, STREAM_LOST);
}

static const struct connection_user asking_user = {.receive = receive_while_asking, .ended = end_while_asking};

void peer_take(struct peer *peer, struct connection *connection)
{
    peer->connection = connection;
    peer->streams->waiting++;
    connection_give(connection, &asking_user, peer);
    note_due(peer, STREAM_JOINS);
    streams_wake(peer->streams, 0);
}

static uint64_t earlier_ns(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t later_ns(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t keep_alive(struct peer *peer, uint64_t now)
{
    const struct stream_times *times = &peer->streams->times;
    struct connection *connection = peer->connection;
    if (connection->is_paused)
        connection->heard_ns = now;
    /* the input of this connection may not have been read, because other peers were served first */
    if (now >= connection->heard_ns + times->silence_ns) {
        connection_look(connection);
        if (peer->connection != connection)
            return now;
    }
    if (now >= connection->heard_ns + times->silence_ns) {
        peer->is_silent = true;
        connection->user->ended(connection, connection->context, NULL);
        connection_close(connection);
        return now;
    }
    if (now >= later_ns(connection->sent_ns, peer->beaten_ns) + times->beat_ns) {
        peer->beaten_ns = now;
        connection_beat(connection);
        if ((connection = peer->connection) == NULL)
            return now;
    }
    return earlier_ns(connection->heard_ns + times->silence_ns,
                      later_ns(connection->sent_ns, peer->beaten_ns) + times->beat_ns);
}

void peer_wait_longer(struct peer *peer, uint64_t now, uint64_t stood_ns)
{
    if (peer->connection != NULL)
        peer->connection->heard_ns = earlier_ns(peer->connection->heard_ns + stood_ns, now);
    else if (peer->state != PEER_IS_GONE) /* while this end was stopped, the peer could not reconnect */
        peer->gone_ns = later_ns(peer->gone_ns, now + peer->streams->setup.closed_ns);
}

uint64_t peer_tick(struct peer *peer, uint64_t now)
{
    if (peer->state == PEER_IS_GONE)
        return STREAM_NEVER;
    if (peer->connection != NULL)
        return keep_alive(peer, now);
    /* even before `gone_ns` this function must be called regularly, because otherwise it could not detect that this end
     * was stopped */
    if (now < peer->gone_ns)
        return earlier_ns(peer->gone_ns, now + peer->streams->times.beat_ns);
    peer_end(peer, true, STREAM_LOST);
    return STREAM_NEVER;
}
