/* SPDX-License-Identifier: MIT */
/* The inside of streams: what the files of this folder share about an end, its peers, and strangers. */
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

/* Strangers, and peers that wait for an answer, together. */
#define STRANGERS_MAX 64
/* Peers that one end has at a time. */
#define STREAM_PEERS_MAX (1u << 16)
/* Bytes of messages that wait for streams_poll(): beyond this nothing is read. */
#define INBOX_MAX ((size_t)4 << 20)

/* Times of a stream, in nanoseconds; tests have others. */
struct stream_times {
    uint64_t beat_ns;    /* silence after which a BEAT is sent */
    uint64_t silence_ns; /* silence of a peer after which its connection is taken for broken */
    uint64_t hello_ns;   /* how long a handshake and a HELLO may take */
};

#define STREAM_BEAT_NS    UINT64_C(250000000)
#define STREAM_SILENCE_NS UINT64_C(1000000000)
#define STREAM_HELLO_NS   UINT64_C(3000000000)
/* Time limits of attempts to come back: the first attempt has STREAM_RETURN_NS, each further one twice as long, up to
 * STREAM_RETURN_MOST_NS. The other end waits STREAM_CLOSED_NS for a peer whose connection was closed; a second
 * attempt begins within that time. */
#define STREAM_RETURN_NS      (STREAM_CLOSED_NS / 4)
#define STREAM_RETURN_MOST_NS STREAM_HELLO_NS
/* Times between two attempts to come back. */
#define STREAM_RETRY_LEAST_NS UINT64_C(50000000)
#define STREAM_RETRY_MOST_NS  UINT64_C(500000000)

#define STREAM_NEVER UINT64_MAX

enum peer_state {
    PEER_ASKS,    /* to join; the user has been told, or is to be told */
    PEER_STAYS,   /* it was welcomed */
    PEER_IS_GONE, /* for good */
};

struct peer {
    struct streams *streams;
    unsigned number;
    enum peer_state state;
    struct stream_lineup lineup;
    unsigned char token[FRAME_TOKEN_BYTES];
    uint32_t first_rank;
    struct session session;
    struct connection *connection; /* owned; NULL: broken */
    uint64_t newest;               /* number of its latest connection */
    uint64_t gone_ns;              /* when a peer whose connection is broken is gone for good */
    uint64_t beaten_ns;            /* when a BEAT was last tried */
    bool is_silent;                /* its connection ends as nothing has come of it */
    size_t kept;                   /* messages and data of it that wait for streams_poll() */
    bool is_due;                   /* something is to be told of it, behind these: `due` */
    enum stream_event_type due;
    bool is_unflushed; /* stands in the list of those to which something was sent */
    struct peer *next_unflushed;
    bool has_left;   /* a BYE has come */
    bool is_parted;  /* a BYE was sent */
    bool is_dropped; /* the user wants to hear nothing more of it */
};

/* A connection that has sent no HELLO, or that was refused and has time to read why. */
struct stranger {
    struct stranger *next, **link;
    struct streams *streams;
    struct connection *connection; /* owned */
    uint64_t deadline_ns;
};

struct listener {
    struct streams *streams;
    struct stream_address address;
    struct endpoint_file file;
    int fd;                     /* owned */
    struct stream_watch *watch; /* owned */
};

enum joiner_answer {
    JOINER_NO_ANSWER,
    JOINER_REFUSED,   /* the set does not want it, or cannot be asked */
    JOINER_MET_OTHER, /* who answers is not the set */
};

/* The end that joins. */
struct joiner {
    struct endpoint_target target;
    struct stream_address address;
    struct stream_lineup lineup;
    struct connection *connection; /* owned; an attempt, until it is welcomed */
    uint64_t deadline_ns;          /* of the attempt */
    uint64_t retry_ns;             /* when the next one begins; STREAM_NEVER */
    uint64_t backoff_ns;
    uint64_t return_ns; /* how long the next attempt to come back may take */
    uint64_t beaten_ns; /* when a BEAT was last sent on the attempt's connection, which waits for an answer */
    uint64_t until_ns;  /* when it is no longer tried to join for the first time */
    enum joiner_answer answer;
    struct error reason; /* why it is turned away, or why the last attempt failed */
    struct stream_welcome welcome;
    char *words; /* owned */
};

struct streams {
    struct streams_setup setup;
    struct stream_world machine; /* the real one; not used by an end that was given another */
    struct stream_world *world;  /* borrowed */
    struct stream_times times;
    struct tls *tls; /* owned; NULL: none */
    struct listener *listeners;
    size_t listener_count;
    struct stranger *strangers;
    unsigned waiting;    /* strangers and peers that ask */
    uint64_t accepted;   /* connections so far */
    struct peer **peers; /* [peer_count] in the order of their numbers; owned */
    size_t peer_count, peer_capacity;
    unsigned next_number;       /* of the next peer: none is given twice */
    size_t gone;                /* peers in the list that are gone for good */
    size_t due;                 /* peers of which something is to be told, and nothing is kept */
    struct fifo inbox;          /* messages as they come */
    struct fifo polled;         /* those that streams_poll() is at */
    size_t polled_bytes;        /* of the message that it has returned last */
    bool is_full;               /* connections are paused */
    bool gathers;               /* messages are kept until streams_flush() */
    struct peer *unflushed;     /* those to which some were sent since; borrowed */
    struct joiner *joiner;      /* owned; NULL at the end that listens */
    struct stream_watch *timer; /* owned */
    uint64_t wakes_ns;          /* when it goes off */
    uint64_t due_ns;            /* the same, not before it was set */
    uint64_t stood_ns;          /* when this end last was found to have stood still; 0: never */
    uint64_t warned_ns;         /* when it was last warned of a stranger */
    unsigned unwarned;          /* strangers since then of which nothing was said */
    uint64_t listens_ns;        /* when connections are taken again; 0: they are */
};

/* --- streams.c --- */

/* An end with nothing in it. NULL with one line. */
struct streams *streams_new(const struct streams_setup *setup, struct error *error);

uint64_t streams_now(const struct streams *streams);

/* Has the timer go off at `at_ns` or before. */
void streams_wake(struct streams *streams, uint64_t at_ns);

/* True where this end has stood still until just now, as one does on a machine that is stopped or very busy. */
bool streams_have_stood(const struct streams *streams, uint64_t now);

/* Keeps a message or data for streams_poll(). -1 when memory is out. */
int streams_keep(struct streams *streams, struct peer *peer, enum stream_event_type type, const unsigned char *bytes,
                 size_t size);

void streams_warn(struct streams *streams, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- peer.c --- */

/* A new peer, which is NULL when memory is out or there are too many. */
struct peer *peer_new(struct streams *streams, const struct stream_lineup *lineup);
void peer_free(struct peer *peer);

/* The peer of that number; NULL: it has gone, and all has been told of it. */
struct peer *peer_find(const struct streams *streams, unsigned number);

/* Gives the peer the time for which this end stood still and could hear nobody. */
void peer_wait_longer(struct peer *peer, uint64_t now, uint64_t stood_ns);

/* Takes over the connection of one that asks. */
void peer_take(struct peer *peer, struct connection *connection);

/* Makes this its connection. A WELCOME is sent over it first, then peer_go_on() follows. */
void peer_greet(struct peer *peer, struct connection *connection);

/* Begins its session, or goes on with it, on a connection that has been greeted, and which it takes. The other end has
 * `received` frames, as session_can_resume(). */
void peer_go_on(struct peer *peer, struct connection *connection, uint64_t received);

/* Ends the peer for good and closes its connection. If `is_told`, the user is told `told`. */
void peer_end(struct peer *peer, bool is_told, enum stream_event_type told);

/* Notes that nothing is to be told of it, as it was told, or nobody wants to hear it. */
void peer_tell_nothing(struct peer *peer);

/* Does what is due, and returns when it is to be called again. */
uint64_t peer_tick(struct peer *peer, uint64_t now);

/* --- listener.c --- */

void stranger_free(struct stranger *stranger);
void listener_fini(struct listener *listener);

/* Takes the connection, sends REFUSED with the line, and closes it when that was read or time is up. */
void stranger_refuse(struct streams *streams, struct connection *connection, const char *line);

/* Takes connections again after there was no descriptor for one. Returns when it is to be called again. */
uint64_t listeners_tick(struct streams *streams, uint64_t now);

/* --- joiner.c --- */

/* The parts of streams_join(): it begins, waits while this is true, and ends; see there. */
struct streams *joiner_begin(const struct streams_setup *setup, const struct stream_address *address,
                             const struct stream_lineup *lineup, uint64_t patience_ns, struct error *error);
bool joiner_waits(const struct streams *streams);
struct streams *joiner_end(struct streams *streams, struct stream_welcome *welcome, struct error *error);

/* Begins an attempt to connect, or notes when the next one is to begin. */
void joiner_try(struct streams *streams);

/* The connection of the peer has broken. */
void joiner_lost(struct streams *streams);

uint64_t joiner_tick(struct streams *streams, uint64_t now);
void joiner_free(struct joiner *joiner);
