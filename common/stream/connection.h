/* SPDX-License-Identifier: MIT */
/* A connection: frames in both directions over a channel. Its user interprets the frames. */
#pragma once

#include "common/stream/channel.h"
#include "common/stream/endpoint.h"
#include "common/stream/fifo.h"
#include "common/stream/session.h"
#include "common/util/error.h"
#include "proto/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct connection;
struct stream_watch;
struct stream_world;

enum connection_verdict {
    FRAME_IS_GOOD,
    FRAME_IS_BAD,
    FRAME_IS_NOT_TAKEN, /* memory has run out, so the connection ends as if it were broken */
};

struct connection_user {
    void (*opened)(struct connection *connection, void *context);
    /* The callback may close the connection. */
    enum connection_verdict (*receive)(struct connection *connection, void *context, const struct frame_head *head,
                                       const unsigned char *body, struct error *error);
    /* Called when the connection is over. The callback must close the connection. If the peer has violated the
     * protocol, `why` says how. If the connection broke, `why` is NULL. */
    void (*ended)(struct connection *connection, void *context, const char *why);
};

enum connection_state { CONNECTION_CONNECTS, CONNECTION_SHAKES, CONNECTION_OPEN, CONNECTION_CLOSED };

struct connection {
    enum connection_state state;
    struct stream_world *world;
    struct channel channel;
    const struct connection_user *user;
    void *context;
    struct stream_watch *readable, *writable;
    /* Watches another descriptor than the socket if the handshake waits for it. Owned; may be NULL. */
    struct stream_watch *awaited;
    bool is_busy;
    bool is_paused;
    bool waits;
    unsigned char *input;
    size_t input_begin, input_end, input_capacity;
    struct fifo output;
    /* the session whose frames are written after `output`; borrowed; NULL: there is no session yet */
    struct session *session;
    uint64_t heard_ns, sent_ns;
    /* number of the connection, counted from 1 in the order of acceptance; 0: this end has opened the connection */
    uint64_t number;
    int refusal;
    char name[ENDPOINT_NAME_MAX];
};

/* Takes over a socket. Uses TLS unless `tls` is NULL. If memory runs out, closes the socket and returns NULL. */
struct connection *connection_new(struct stream_world *world, int fd, bool is_tcp, bool is_connecting, struct tls *tls,
                                  const struct connection_user *user, void *context);

void connection_close(struct connection *connection);

void connection_give(struct connection *connection, const struct connection_user *user, void *context);

int connection_widen(struct connection *connection, size_t body_bytes);

/* Sends a frame that belongs to no session. If the connection has a session, all frames of the session must have been
 * written. Returns -1 if memory runs out. When this function returns, the connection may have ended. The same is true
 * for the functions below. */
int connection_send(struct connection *connection, enum frame_type type, const unsigned char *body, size_t size);

/* Sends an acknowledgement. Does nothing if a frame that waits for output will acknowledge the input. */
void connection_beat(struct connection *connection);

void connection_pump(struct connection *connection);

void connection_look(struct connection *connection);

void connection_pause(struct connection *connection);
void connection_resume(struct connection *connection);
