/* SPDX-License-Identifier: MIT */
/* The joining end. It tries to connect until it is welcomed or refused, or until its time is over. If its connection
 * breaks later, it reconnects with the token of its session. It waits between two attempts, because the listening end
 * may be away for some time. */
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
/* The peer counts as silent if it has sent nothing for this many beats. */
#define BEATS_OF_SILENCE 4

static struct peer *joined_peer(const struct streams *streams)
{
    return streams->peer_count > 0 ? streams->peers[0] : NULL;
}

static void try_later(struct streams *streams)
{
    struct joiner *joiner = streams->joiner;
    joiner->retry_ns = streams_now(streams) + joiner->backoff_ns;
    joiner->backoff_ns = joiner->backoff_ns * 2 < STREAM_RETRY_MOST_NS ? joiner->backoff_ns * 2 : STREAM_RETRY_MOST_NS;
    streams_wake(streams, joiner->retry_ns);
}

static void stop_joining(struct streams *streams, enum joiner_answer answer, const char *why)
{
    struct joiner *joiner = streams->joiner;
    struct peer *peer = joined_peer(streams);
    char text[STREAM_ADDRESS_TEXT_MAX];
    stream_address_print(&joiner->address, text);
    joiner->answer = answer;
    joiner->retry_ns = STREAM_NEVER;
    error_set(&joiner->reason, "cannot join at %s: %s", text, why);
    if (peer == NULL)
        return;
    streams_warn(streams, "cannot come back to %s: %s", text, why);
    peer_end(peer, true, STREAM_LOST);
}

static void describe_lineup(struct frame_hello *hello, const struct stream_lineup *lineup)
{
    *hello = (struct frame_hello){
        .stream = STREAM_VERSION,
        .protocol = PROTOCOL_VERSION,
        .workers = lineup->workers,
        .cores = lineup->cores,
    };
    memcpy(hello->name, lineup->name, sizeof hello->name);
}

static void send_hello(struct connection *connection, void *context)
{
    struct streams *streams = context;
    struct joiner *joiner = streams->joiner;
    const struct peer *peer = joined_peer(streams);
    struct frame_hello hello;
    unsigned char body[FRAME_HELLO_BYTES];
    describe_lineup(&hello, &joiner->lineup);
    if (peer != NULL) {
        memcpy(hello.token, peer->token, sizeof hello.token);
        hello.received = peer->session.received;
    } else
        joiner->deadline_ns = STREAM_NEVER; /* from this point on, `until_ns` is the only time limit for the answer */
    frame_hello_encode(&hello, body);
    joiner->beaten_ns = streams_now(streams);
    streams_wake(streams, joiner->beaten_ns + streams->times.beat_ns);
    if (connection_send(connection, FRAME_HELLO, body, sizeof body) < 0)
        error_set(&joiner->reason, "out of memory");
}

static enum connection_verdict take_welcome(struct streams *streams, struct connection *connection,
                                            const struct frame_welcome *welcome)
{
    struct joiner *joiner = streams->joiner;
    char *words = malloc(welcome->words_bytes + 1);
    struct peer *peer = words != NULL ? peer_new(streams, &joiner->lineup) : NULL;
    if (peer == NULL) {
        free(words);
        stop_joining(streams, JOINER_REFUSED, "out of memory");
        return FRAME_IS_NOT_TAKEN;
    }
    if (welcome->words_bytes > 0)
        memcpy(words, welcome->words, welcome->words_bytes);
    joiner->words = words;
    joiner->welcome = (struct stream_welcome){welcome->first_rank, words, welcome->words_bytes,
                                              !stream_address_is_tcp(&joiner->address)};
    memcpy(peer->token, welcome->token, sizeof peer->token);
    peer->first_rank = welcome->first_rank;
    peer->state = PEER_STAYS;
    streams->times.beat_ns = (uint64_t)welcome->beat_ms * NS_PER_MS;
    streams->times.silence_ns = BEATS_OF_SILENCE * streams->times.beat_ns;
    joiner->connection = NULL;
    peer_go_on(peer, connection, 0);
    return FRAME_IS_GOOD;
}

static enum connection_verdict rejoin(struct streams *streams, struct connection *connection,
                                      const struct frame_welcome *welcome, struct error *error)
{
    struct peer *peer = joined_peer(streams);
    if (memcmp(welcome->token, peer->token, sizeof peer->token) != 0 ||
        !session_can_resume(&peer->session, welcome->received)) {
        error_set(error, "a welcome to another pod");
        return FRAME_IS_BAD;
    }
    streams->joiner->connection = NULL;
    peer_go_on(peer, connection, welcome->received);
    return FRAME_IS_GOOD;
}

static enum connection_verdict receive_answer(struct connection *connection, void *context,
                                              const struct frame_head *head, const unsigned char *body,
                                              struct error *error)
{
    struct streams *streams = context;
    struct joiner *joiner = streams->joiner;
    struct frame_welcome welcome;
    char line[TEXT_MAX + 1];
    switch (head->type) {
    case FRAME_BEAT: return FRAME_IS_GOOD;
    case FRAME_REFUSED:
        if (frame_refused_decode(line, body, head->size, error) < 0)
            return FRAME_IS_BAD;
        joiner->connection = NULL;
        stop_joining(streams, JOINER_REFUSED, line);
        connection_close(connection);
        return FRAME_IS_GOOD;
    case FRAME_WELCOME:
        if (frame_welcome_decode(&welcome, body, head->size, error) < 0)
            return FRAME_IS_BAD;
        joiner->backoff_ns = STREAM_RETRY_LEAST_NS;
        joiner->return_ns = STREAM_RETURN_NS;
        joiner->deadline_ns = STREAM_NEVER;
        if (joined_peer(streams) == NULL) {
            if (welcome.received == 0)
                return take_welcome(streams, connection, &welcome);
            error_set(error, "a welcome to another pod");
            return FRAME_IS_BAD;
        }
        return rejoin(streams, connection, &welcome, error);
    default: error_set(error, "it does not answer a hello"); return FRAME_IS_BAD;
    }
}

static void end_attempt(struct connection *connection, void *context, const char *why)
{
    struct streams *streams = context;
    struct joiner *joiner = streams->joiner;
    joiner->connection = NULL;
    if (joiner->answer != JOINER_NO_ANSWER)
        return;
    if (why != NULL && joined_peer(streams) == NULL)
        stop_joining(streams, JOINER_MET_OTHER, why);
    else {
        error_set(&joiner->reason, "%s",
                  why != NULL                ? why
                  : connection->refusal != 0 ? strerror(connection->refusal)
                                             : "the connection was closed");
        try_later(streams);
    }
}

static const struct connection_user joiner_user = {
    .opened = send_hello, .receive = receive_answer, .ended = end_attempt};

static void joiner_try(struct streams *streams)
{
    struct joiner *joiner = streams->joiner;
    const struct stream_world_ops *ops = streams->world->ops;
    const bool is_tcp = stream_address_is_tcp(&joiner->address);
    uid_t user;
    joiner->retry_ns = STREAM_NEVER;
    const int fd = ops->connect(&joiner->target);
    if (fd < 0) {
        error_set(&joiner->reason, "%s", strerror(errno));
        try_later(streams);
        return;
    }
    if (!is_tcp && !ops->is_own(fd, &user)) {
        struct error line;
        error_set(&line, "whoever listens there is of user %u", (unsigned)user);
        stop_joining(streams, JOINER_MET_OTHER, line.text);
        ops->close(fd);
        return;
    }
    const bool brings_credential = is_tcp && streams->setup.key == NULL;
    struct greeting *greeting = brings_credential ? greeting_new(true) : NULL;
    joiner->connection = connection_new(streams->world, fd, is_tcp, true, streams->tls, &joiner_user, streams);
    if (joiner->connection == NULL || (brings_credential && greeting == NULL) ||
        connection_widen(joiner->connection, FRAME_BODY_MAX) < 0) {
        greeting_free(greeting);
        connection_close(joiner->connection);
        joiner->connection = NULL;
        error_set(&joiner->reason, "out of memory");
        try_later(streams);
        return;
    }
    channel_greet(&joiner->connection->channel, greeting);
    joiner->deadline_ns =
        streams_now(streams) + (joined_peer(streams) != NULL ? joiner->return_ns : streams->times.hello_ns);
    streams_wake(streams, joiner->deadline_ns);
}

void joiner_lost(struct streams *streams)
{
    if (streams->joiner->connection == NULL && streams->joiner->retry_ns == STREAM_NEVER)
        try_later(streams);
}

/* Sends BEATs while a new pod waits for the answer to its HELLO. Returns the time of the next BEAT. A returning pod
 * sends no BEATs, because it gets its answer in the next turn of the set's event base. Besides, a BEAT without a
 * session acknowledges no frames. From a returning pod, which has received frames, such a BEAT would violate the
 * protocol. */
static uint64_t beat_while_waiting(struct streams *streams, uint64_t now)
{
    struct joiner *joiner = streams->joiner;
    if (joined_peer(streams) != NULL || joiner->connection == NULL || joiner->connection->state != CONNECTION_OPEN)
        return STREAM_NEVER;
    if (now >= joiner->beaten_ns + streams->times.beat_ns) {
        joiner->beaten_ns = now;
        connection_beat(joiner->connection);
    }
    return joiner->beaten_ns + streams->times.beat_ns;
}

uint64_t joiner_tick(struct streams *streams, uint64_t now)
{
    struct joiner *joiner = streams->joiner;
    const struct peer *peer = joined_peer(streams);
    const uint64_t until_ns = peer == NULL ? joiner->until_ns : STREAM_NEVER;
    if (peer != NULL && peer->state == PEER_IS_GONE) {
        connection_close(joiner->connection);
        joiner->connection = NULL;
        return STREAM_NEVER;
    }
    if (joiner->connection != NULL && now >= joiner->deadline_ns) {
        connection_close(joiner->connection);
        joiner->connection = NULL;
        error_set(&joiner->reason, "no answer to a handshake");
        joiner->return_ns =
            2 * joiner->return_ns < STREAM_RETURN_MOST_NS ? 2 * joiner->return_ns : STREAM_RETURN_MOST_NS;
        try_later(streams);
    } else if (joiner->connection == NULL && now >= joiner->retry_ns)
        joiner_try(streams);
    const uint64_t beat_ns = beat_while_waiting(streams, now);
    uint64_t next = joiner->connection != NULL ? joiner->deadline_ns : joiner->retry_ns;
    next = next < beat_ns ? next : beat_ns;
    return next < until_ns ? next : until_ns;
}

void joiner_free(struct joiner *joiner)
{
    if (joiner == NULL)
        return;
    connection_close(joiner->connection);
    free(joiner->words);
    free(joiner);
}

static int check_lineup(const struct stream_lineup *lineup, struct error *error)
{
    struct frame_hello hello;
    unsigned char body[FRAME_HELLO_BYTES];
    struct error why;
    describe_lineup(&hello, lineup);
    frame_hello_encode(&hello, body);
    return frame_hello_decode(&hello, body, sizeof body, &why) < 0 ? error_set(error, "cannot join with %s", why.text)
                                                                   : 0;
}

static int joiner_new(struct streams *streams, const struct stream_address *address, const struct stream_lineup *lineup,
                      struct error *error)
{
    struct joiner *joiner = streams->joiner = calloc(1, sizeof *joiner);
    char text[STREAM_ADDRESS_TEXT_MAX];
    if (joiner == NULL)
        return error_set(error, "out of memory for the stream to a set");
    if (check_lineup(lineup, error) < 0)
        return -1;
    joiner->address = *address;
    joiner->lineup = *lineup;
    joiner->deadline_ns = joiner->retry_ns = STREAM_NEVER;
    joiner->backoff_ns = STREAM_RETRY_LEAST_NS;
    joiner->return_ns = STREAM_RETURN_NS;
    if (stream_address_is_tcp(address)) {
        stream_address_print(address, text);
        if (address->port.port == 0)
            return error_set(error, "cannot join at %s: accepted is a port from 1 to 65535", text);
        if ((streams->tls = tls_new(streams->setup.key, false, error)) == NULL)
            return -1;
    }
    return endpoint_resolve(&joiner->target, address, error);
}

struct streams *joiner_begin(const struct streams_setup *setup, const struct stream_address *address,
                             const struct stream_lineup *lineup, uint64_t patience_ns, struct error *error)
{
    struct streams *streams = streams_new(setup, error);
    if (streams == NULL || joiner_new(streams, address, lineup, error) < 0) {
        streams_free(streams);
        errno = 0;
        return NULL;
    }
    struct joiner *joiner = streams->joiner;
    const uint64_t now = streams_now(streams);
    joiner->until_ns = patience_ns < STREAM_NEVER - now ? now + patience_ns : STREAM_NEVER;
    streams_wake(streams, joiner->until_ns);
    joiner_try(streams);
    return streams;
}

bool joiner_waits(const struct streams *streams)
{
    const struct joiner *joiner = streams->joiner;
    return streams->peer_count == 0 && joiner->answer == JOINER_NO_ANSWER && streams_now(streams) < joiner->until_ns;
}

static void tell_why_not(const struct joiner *joiner, struct error *error)
{
    char text[STREAM_ADDRESS_TEXT_MAX];
    stream_address_print(&joiner->address, text);
    if (joiner->answer != JOINER_NO_ANSWER)
        error_set(error, "%s", joiner->reason.text);
    else if (joiner->reason.text[0] != '\0')
        error_set(error, "cannot join at %s: nobody answers: %s", text, joiner->reason.text);
    else
        error_set(error, "cannot join at %s: nobody answers", text);
}

struct streams *joiner_end(struct streams *streams, struct stream_welcome *welcome, struct error *error)
{
    static const int reasons[] = {[JOINER_NO_ANSWER] = ETIMEDOUT, [JOINER_REFUSED] = 0, [JOINER_MET_OTHER] = EACCES};
    const struct joiner *joiner = streams->joiner;
    if (streams->peer_count > 0) {
        *welcome = joiner->welcome;
        return streams;
    }
    const enum joiner_answer answer = joiner->answer;
    tell_why_not(joiner, error);
    streams_free(streams);
    errno = reasons[answer];
    return NULL;
}

struct streams *streams_join(const struct streams_setup *setup, const struct stream_address *address,
                             const struct stream_lineup *lineup, uint64_t patience_ns, struct stream_welcome *welcome,
                             struct error *error)
{
    struct streams *streams = joiner_begin(setup, address, lineup, patience_ns, error);
    if (streams == NULL)
        return NULL;
    while (joiner_waits(streams) && streams->world->ops->turn(streams->world, true))
        ;
    return joiner_end(streams, welcome, error);
}
