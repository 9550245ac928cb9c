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
/* If more bytes than this wait for streams_poll(), no further input is read. */
#define INBOX_MAX ((size_t)4 << 20)

struct stream_times {
    uint64_t beat_ns;    /* if nothing else was sent for this time, a BEAT is sent */
    uint64_t silence_ns; /* if nothing was received for this time, the connection counts as broken */
    uint64_t hello_ns;
};

#define STREAM_BEAT_NS    UINT64_C(250000000)
#define STREAM_SILENCE_NS UINT64_C(1000000000)
#define STREAM_HELLO_NS   UINT64_C(3000000000)
/* Time limits for attempts to reconnect. The first attempt may take STREAM_RETURN_NS. Each further attempt may take
 * twice as long as the attempt before, but at most STREAM_RETURN_MOST_NS. After a connection was closed, the other end
 * waits for STREAM_CLOSED_NS. STREAM_RETURN_NS is a quarter of this time, so that a second attempt begins within it. */
#define STREAM_RETURN_NS      (STREAM_CLOSED_NS / 4)
#define STREAM_RETURN_MOST_NS STREAM_HELLO_NS
#define STREAM_RETRY_LEAST_NS UINT64_C(50000000)
#define STREAM_RETRY_MOST_NS  UINT64_C(500000000)

#define STREAM_NEVER UINT64_MAX

enum peer_state {
    PEER_ASKS,
    PEER_STAYS,
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
    uint64_t gone_ns; /* end of the grace time, if the connection is broken; the peer then counts as lost */
    uint64_t beaten_ns;
    bool is_silent;
    /* Number of messages and data of this peer that wait for streams_poll(). If `is_due` is set, the event `due` is
     * returned after them. */
    size_t kept;
    bool is_due;
    enum stream_event_type due;
    bool is_unflushed;
    struct peer *next_unflushed;
    bool has_left;
    bool is_parted;
    bool is_dropped;
};

/* A connection that has sent no HELLO, or a refused connection that may still read the reason of its refusal. */
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
    JOINER_REFUSED,
    JOINER_MET_OTHER,
};

struct joiner {
    struct endpoint_target target;
    struct stream_address address;
    struct stream_lineup lineup;
    struct connection *connection;
    uint64_t deadline_ns;
    uint64_t retry_ns; /* time at which the next attempt to connect begins; STREAM_NEVER: no attempt is planned */
    uint64_t backoff_ns;
    uint64_t return_ns;
    uint64_t beaten_ns;
    uint64_t until_ns;
    enum joiner_answer answer;
    struct error reason;
    struct stream_welcome welcome;
    char *words;
};

struct streams {
    struct streams_setup setup;
    struct stream_world machine;
    struct stream_world *world;
    struct stream_times times;
    struct tls *tls;
    struct listener *listeners;
    size_t listener_count;
    struct stranger *strangers;
    unsigned waiting;
    uint64_t accepted;
    struct peer **peers; /* [peer_count] sorted by number; owned */
    size_t peer_count, peer_capacity;
    unsigned next_number;
    size_t gone;
    size_t due; /* number of peers whose next event is `due`, because none of their messages waits for streams_poll() */
    struct fifo inbox;
    struct fifo polled;
    size_t polled_bytes;
    bool is_full;
    bool gathers;
    struct peer *unflushed;
    struct joiner *joiner;
    struct stream_watch *timer;
    uint64_t wakes_ns;
    uint64_t due_ns; /* the later one of two times: `wakes_ns`, and the time at which `wakes_ns` was set */
    uint64_t stood_ns;
    /* time of the last warning about a stranger; `unwarned` is the number of strangers since that warning */
    uint64_t warned_ns;
    unsigned unwarned;
    uint64_t listens_ns; /* time at which connections are accepted again; 0: they are accepted now */
};

struct streams *streams_new(const struct streams_setup *setup, struct error *error);

uint64_t streams_now(const struct streams *streams);

void streams_wake(struct streams *streams, uint64_t at_ns);

/* True if this process was not running for some time before this call, because the machine was suspended or very busy.
 */
bool streams_have_stood(const struct streams *streams, uint64_t now);

int streams_keep(struct streams *streams, struct peer *peer, enum stream_event_type type, const unsigned char *bytes,
                 size_t size);

void streams_warn(struct streams *streams, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct peer *peer_new(struct streams *streams, const struct stream_lineup *lineup);
void peer_free(struct peer *peer);

struct peer *peer_find(const struct streams *streams, unsigned number);

void peer_wait_longer(struct peer *peer, uint64_t now, uint64_t stood_ns);

void peer_take(struct peer *peer, struct connection *connection);

/* Takes over the connection over which the peer will get a WELCOME. Call it before peer_go_on(). */
void peer_greet(struct peer *peer, struct connection *connection);

/* Starts or resumes the session on the connection that was passed to peer_greet(). `received` is the same as for
 * session_can_resume(). */
void peer_go_on(struct peer *peer, struct connection *connection, uint64_t received);

void peer_end(struct peer *peer, bool is_told, enum stream_event_type told);

void peer_tell_nothing(struct peer *peer);

uint64_t peer_tick(struct peer *peer, uint64_t now);

void stranger_free(struct stranger *stranger);
void listener_fini(struct listener *listener);

/* Sends a frame REFUSED with the line. The connection is closed when the stranger has read the line, or when the time
 * of the stranger is over. */
void stranger_refuse(struct streams *streams, struct connection *connection, const char *line);

uint64_t listeners_tick(struct streams *streams, uint64_t now);

/* The steps of streams_join(). It calls joiner_begin(), runs the event base while joiner_waits() returns true, and then
 * calls joiner_end(). */
struct streams *joiner_begin(const struct streams_setup *setup, const struct stream_address *address,
                             const struct stream_lineup *lineup, uint64_t patience_ns, struct error *error);
bool joiner_waits(const struct streams *streams);
struct streams *joiner_end(struct streams *streams, struct stream_welcome *welcome, struct error *error);

void joiner_lost(struct streams *streams);

uint64_t joiner_tick(struct streams *streams, uint64_t now);
void joiner_free(struct joiner *joiner);
