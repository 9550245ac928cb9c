/* SPDX-License-Identifier: MIT */
/* Internal interface between the files of common/stream: ends, peers and strangers. */
#pragma once

#include "common/stream/connection.h"
#include "common/stream/endpoint.h"
#include "common/stream/fifo.h"
#include "common/stream/session.h"
#include "common/stream/stream.h"
#include "common/stream/world.h"
#include "common/util/error.h"
#include "proto/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tls;

#define STRANGERS_MAX    64
#define STREAM_PEERS_MAX (1u << 16)
/* Limit of the bytes that wait for streams_poll(): above it nothing is read. */
#define INBOX_MAX ((size_t)4 << 20)

struct stream_times {
    uint64_t beat_ns;    /* pause in output before a BEAT */
    uint64_t silence_ns; /* pause in input after which a connection counts as broken */
    uint64_t hello_ns;   /* limit for handshake and HELLO */
};

#define STREAM_BEAT_NS    UINT64_C(250000000)
#define STREAM_SILENCE_NS UINT64_C(1000000000)
#define STREAM_HELLO_NS   UINT64_C(3000000000)
/* Time limits of reconnection: the first attempt has STREAM_RETURN_NS, each further one twice as long, up to
 * STREAM_RETURN_MOST_NS. The other end waits STREAM_CLOSED_NS for a peer with a closed connection, so a second attempt
 * begins within that time. */
#define STREAM_RETURN_NS      (STREAM_CLOSED_NS / 4)
#define STREAM_RETURN_MOST_NS STREAM_HELLO_NS
#define STREAM_RETRY_LEAST_NS UINT64_C(50000000)
#define STREAM_RETRY_MOST_NS  UINT64_C(500000000)

#define STREAM_NEVER UINT64_MAX

enum peer_state {
    PEER_ASKS,  /* the peer wants to join, and the user of the streams has not answered */
    PEER_STAYS, /* the user of the streams has accepted the peer */
    PEER_IS_GONE,
};

struct peer {
    struct streams *streams;
    unsigned number;
    enum peer_state state;
    struct stream_lineup lineup;
    unsigned char token[FRAME_TOKEN_BYTES];
    uint32_t first_rank;
    struct session session;
    struct connection *connection; /* owned; NULL: the connection is broken */
    uint64_t newest;
    uint64_t gone_ns; /* if the connection is broken, when the grace time ends */
    uint64_t beaten_ns;
    bool is_silent; /* the connection is being ended because nothing arrived for too long */
    size_t kept;    /* how many of its messages and data wait for streams_poll(); if is_due, the event `due` follows */
    bool is_due;
    enum stream_event_type due;
    bool is_unflushed; /* the peer is in the list `unflushed` of struct streams */
    struct peer *next_unflushed;
    bool has_left;  /* the peer has sent BYE */
    bool is_parted; /* this end has sent BYE */
    bool is_dropped;
};

/* A connection that has sent no HELLO yet, or that was refused and may still read the reason. */
struct stranger {
    struct stranger *next, **link;
    struct streams *streams;
    struct connection *connection;
    uint64_t deadline_ns;
};

struct listener {
    struct streams *streams;
    struct stream_address address;
    struct endpoint_file file;
    int fd;
    struct stream_watch *watch;
};

enum joiner_answer {
    JOINER_NO_ANSWER,
    JOINER_REFUSED,   /* the set refused the pod, or could not be asked */
    JOINER_MET_OTHER, /* something other than the set answered */
};

struct joiner {
    struct endpoint_target target;
    struct stream_address address;
    struct stream_lineup lineup;
    struct connection *connection;
    uint64_t deadline_ns;
    uint64_t retry_ns; /* when the next attempt begins; STREAM_NEVER: not planned */
    uint64_t backoff_ns;
    uint64_t return_ns; /* how long the next attempt to reconnect may take */
    uint64_t beaten_ns;
    uint64_t until_ns; /* until when the first welcome is waited for */
    enum joiner_answer answer;
    struct error reason;
    struct stream_welcome welcome;
    char *words;
};

struct streams {
    struct streams_setup setup;
    struct stream_world machine; /* the real world; used if the setup gives no other */
    struct stream_world *world;
    struct stream_times times;
    struct tls *tls;
    struct listener *listeners;
    size_t listener_count;
    struct stranger *strangers;
    unsigned waiting; /* number of strangers and of peers in state PEER_ASKS */
    uint64_t accepted;
    struct peer **peers; /* [peer_count] sorted by number; owned */
    size_t peer_count, peer_capacity;
    unsigned next_number;
    size_t gone;
    size_t due; /* number of peers whose event `due` is next, because no message waits before it */
    struct fifo inbox;
    struct fifo polled;
    size_t polled_bytes;
    bool is_full;
    bool gathers;           /* output is held back until streams_flush() */
    struct peer *unflushed; /* list of peers whose output is held back */
    struct joiner *joiner;
    struct stream_watch *timer;
    uint64_t wakes_ns;
    uint64_t due_ns;    /* `wakes_ns` or, if later, the time at which that was set */
    uint64_t stood_ns;  /* when this end last noticed that it had been stopped; 0: never */
    uint64_t warned_ns; /* when the last warning about a stranger was given; `unwarned` counts strangers since */
    unsigned unwarned;
    uint64_t listens_ns; /* when connections are accepted again; 0: now */
};

struct streams *streams_new(const struct streams_setup *setup, struct error *error);

uint64_t streams_now(const struct streams *streams);

/* Sets the timer to `at_ns` or earlier. */
void streams_wake(struct streams *streams, uint64_t at_ns);

/* True if this end was stopped until now, as on a suspended or very busy machine. */
bool streams_have_stood(const struct streams *streams, uint64_t now);

/* Stores a message or data for streams_poll(). */
int streams_keep(struct streams *streams, struct peer *peer, enum stream_event_type type, const unsigned char *bytes,
                 size_t size);

void streams_warn(struct streams *streams, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct peer *peer_new(struct streams *streams, const struct stream_lineup *lineup);
void peer_free(struct peer *peer);

struct peer *peer_find(const struct streams *streams, unsigned number);

/* Extends the peer's time limits by the time for which this end was stopped. */
void peer_wait_longer(struct peer *peer, uint64_t now, uint64_t stood_ns);

void peer_take(struct peer *peer, struct connection *connection);

/* Sets the connection, over which a WELCOME is sent before peer_go_on(). */
void peer_greet(struct peer *peer, struct connection *connection);

/* Starts or resumes the session on a greeted connection; `received` as in session_can_resume(). */
void peer_go_on(struct peer *peer, struct connection *connection, uint64_t received);

/* Ends the peer and closes its connection. If `is_told`, the user gets the event `told`. */
void peer_end(struct peer *peer, bool is_told, enum stream_event_type told);

void peer_tell_nothing(struct peer *peer);

/* Handles the time limits of the peer. Returns when it must be called next. */
uint64_t peer_tick(struct peer *peer, uint64_t now);

void stranger_free(struct stranger *stranger);
void listener_fini(struct listener *listener);

/* Sends REFUSED with the line, and closes the connection after the line was read or time is over. */
void stranger_refuse(struct streams *streams, struct connection *connection, const char *line);

/* Resumes accepting connections after a pause. Returns the time of the next call. */
uint64_t listeners_tick(struct streams *streams, uint64_t now);

/* The steps of streams_join(): begin, wait while joiner_waits(), end. */
struct streams *joiner_begin(const struct streams_setup *setup, const struct stream_address *address,
                             const struct stream_lineup *lineup, uint64_t patience_ns, struct error *error);
bool joiner_waits(const struct streams *streams);
struct streams *joiner_end(struct streams *streams, struct stream_welcome *welcome, struct error *error);

void joiner_lost(struct streams *streams);

uint64_t joiner_tick(struct streams *streams, uint64_t now);
void joiner_free(struct joiner *joiner);
