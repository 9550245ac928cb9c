/* SPDX-License-Identifier: MIT */
/* One connection: frames in and out over a channel, as the socket permits. Its user says what a frame means. */
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

/* What becomes of a frame that has come. */
enum connection_verdict {
    FRAME_IS_GOOD,
    FRAME_IS_BAD,       /* it breaks the protocol, as the error says: the connection ends */
    FRAME_IS_NOT_TAKEN, /* memory is out: the connection ends as one that breaks */
};

struct connection_user {
    /* Frames can be sent. May be NULL. */
    void (*opened)(struct connection *connection, void *context);
    /* A frame has come. The connection may be closed in here. */
    enum connection_verdict (*receive)(struct connection *connection, void *context, const struct frame_head *head,
                                       const unsigned char *body, struct error *error);
    /* The connection is over, and is closed by whoever called this afterwards. `why`: what the other end did; NULL
     * where it merely broke. */
    void (*ended)(struct connection *connection, void *context, const char *why);
};

enum connection_state { CONNECTION_CONNECTS, CONNECTION_SHAKES, CONNECTION_OPEN, CONNECTION_CLOSED };

struct connection {
    enum connection_state state;
    struct stream_world *world; /* borrowed */
    struct channel channel;
    const struct connection_user *user;
    void *context;
    struct stream_watch *readable, *writable; /* owned */
    struct stream_watch *awaited;             /* what the handshake waits for beside the socket; owned; NULL: nothing */
    bool is_busy;                             /* a function of it is running, which frees it if it is closed */
    bool is_paused;                           /* nothing is read */
    bool waits;                               /* to be writable */
    unsigned char *input;                     /* [input_capacity] owned; from input_begin to input_end is to be taken */
    size_t input_begin, input_end, input_capacity;
    struct fifo output;      /* frames that are no part of a session */
    struct session *session; /* borrowed; NULL: none yet */
    uint64_t heard_ns, sent_ns;
    uint64_t number;              /* in the order of all that this end has accepted; 0: it was not */
    int refusal;                  /* the errno with which it could not connect */
    char name[ENDPOINT_NAME_MAX]; /* of the other end */
};

/* Takes a socket, with TLS where `tls` is not NULL. NULL when memory is out: then the socket is closed. */
struct connection *connection_new(struct stream_world *world, int fd, bool is_tcp, bool is_connecting, struct tls *tls,
                                  const struct connection_user *user, void *context);

/* Closes it at once. NULL is fine. */
void connection_close(struct connection *connection);

/* From here on another user hears of it. */
void connection_give(struct connection *connection, const struct connection_user *user, void *context);

/* Has it take frames of this size. -1 when memory is out. */
int connection_widen(struct connection *connection, size_t body_bytes);

/* Sends a frame of no session; before there is one, or where nothing of that waits to be written. -1 when memory is
 * out. The connection may be over afterwards. */
int connection_send(struct connection *connection, enum frame_type type, const unsigned char *body, size_t size);

/* Acknowledges what was received, where that takes a frame of its own. The connection may be over afterwards. */
void connection_beat(struct connection *connection);

/* Writes what waits, as far as the socket takes it. The connection may be over afterwards. */
void connection_pump(struct connection *connection);

/* Reads what the socket has by now, without asking first whether it has anything. The connection may be over
 * afterwards. */
void connection_look(struct connection *connection);

/* Reads nothing more, and goes on. The connection may be over after the latter. */
void connection_pause(struct connection *connection);
void connection_resume(struct connection *connection);
