/* SPDX-License-Identifier: MIT */
/* Streams: the protocol's messages between launches of their own, over sockets. One end listens, the supermaster's; the
 * others join it, each for the master of a pod. What has come is taken by streams_poll(), in its order: nothing here
 * calls back. A peer whose connection breaks may come back within the grace time: then nothing is lost and nothing
 * comes twice, and nobody but these files knows of it. PROTOCOL.md, "Streams", has each byte.
 *
 * All goes on while the event base is turned: an end that does not turn it for a second is silent, and is cut off until
 * it does. What it could not hear meanwhile it takes for nobody's silence. */
#pragma once

#include "common/stream/address.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct stream_world;
struct streams;

#define STREAM_NAME_MAX  64
#define STREAM_KEY_BYTES 32
#define STREAM_WORDS_MAX 65536
#define STREAM_DATA_MAX  65528

/* The times of grace between a set and its pods, at both ends: see struct streams_setup. */
#define STREAM_GRACE_NS  UINT64_C(10000000000)
#define STREAM_CLOSED_NS UINT64_C(2000000000)

/* What a pod says of itself when it joins. */
struct stream_lineup {
    uint32_t workers;           /* 1 to 2^20 */
    uint32_t cores;             /* that its ranks may run on */
    char name[STREAM_NAME_MAX]; /* of its node, as far as the first dot: graphic ASCII characters, at least one */
};

/* What it is told. */
struct stream_welcome {
    uint32_t first_rank; /* of its master; its workers have the numbers that follow */
    const char *words;   /* those that its ranks are to run with, each with its '\0' */
    size_t words_bytes;  /* at most STREAM_WORDS_MAX */
    bool is_near;        /* told to a pod: it has joined by a socket in a folder, so the set is on its node */
};

enum stream_event_type {
    STREAM_JOINS,   /* a pod wants to join: streams_welcome() or streams_refuse() follow, now or later */
    STREAM_MESSAGE, /* from a peer that was welcomed */
    STREAM_DATA,    /* likewise, to the end that listens: bytes that belong to a message before them */
    STREAM_LEFT,    /* a peer has left in order: nothing more comes from it, and nothing goes to it */
    STREAM_LOST, /* a peer has not come back within the grace time, or has broken the protocol: the same. Also one that
                    has gone before it was answered. Not of a peer from which this end has parted */
};

struct stream_event {
    enum stream_event_type type;
    unsigned peer;
    const unsigned char *bytes; /* MESSAGE, DATA: until the next call */
    size_t size;
    struct stream_lineup lineup; /* JOINS */
};

/* Common to both ends. */
struct streams_setup {
    struct event_base *base;    /* borrowed */
    struct stream_world *world; /* borrowed; NULL: this machine, by way of the base. Tests have another one: world.h */
    const unsigned char *key;   /* [STREAM_KEY_BYTES] pre-shared key; NULL: nothing listens at a port, and a port is
                                   joined by a credential of munge */
    uint64_t grace_ns;          /* how long a peer that has fallen silent may take to come back */
    uint64_t closed_ns;         /* the same of one whose connection was closed, as that of a process that ends is */
    void (*warn)(void *context, const char *line); /* NULL: nobody hears of strangers that were sent away */
    void *context;
};

/* Opens the listening end, at one or more addresses. A socket in a folder is of mode 0600, and takes peers of the own
 * uid alone. `error` says which address cannot be used, and why. NULL then. */
struct streams *streams_listen(const struct streams_setup *setup, const struct stream_address *addresses, size_t count,
                               struct error *error);

/* The address at which it listens at `index`: with the port that the kernel has chosen where that was 0. */
const struct stream_address *streams_address(const struct streams *streams, size_t index);

/* Joins as a pod: blocks until it is welcomed, serving the base meanwhile, at most `patience_ns`. The welcome's words
 * are the streams'. NULL with one line where it is refused, errno being 0; where who answers is not the set, as it has
 * another key, is of another user or speaks otherwise, EACCES; or where nobody answers, ETIMEDOUT. The only peer has
 * number 0. */
struct streams *streams_join(const struct streams_setup *setup, const struct stream_address *address,
                             const struct stream_lineup *lineup, uint64_t patience_ns, struct stream_welcome *welcome,
                             struct error *error);

/* The next thing that has happened, of any peer; false where there is none. A number of a peer is never given again: a
 * call for one that has gone does nothing. */
bool streams_poll(struct streams *streams, struct stream_event *event);

/* Reads what has come by now, at the cost of one call of the system where nothing has. The base is turned only where
 * there are many peers: an end that calls this must turn the base now and then as well, for all else. */
void streams_look(struct streams *streams);

/* Answers a pod that wants to join. The welcome is copied; a line of a refusal is shown to whoever has started the pod.
 * -1 when memory is out: the pod is refused. */
int streams_welcome(struct streams *streams, unsigned peer, const struct stream_welcome *welcome);
void streams_refuse(struct streams *streams, unsigned peer, const char *line);

/* Sends a message of 1 to MESSAGE_MAX bytes, which is copied: at once, as far as the socket takes it. Nothing where the
 * peer is not open. -1 when memory is out, or a peer that is cut off has left 1 GiB unacknowledged. */
int streams_send(struct streams *streams, unsigned peer, const unsigned char *bytes, size_t size);

/* Sends 1 to STREAM_DATA_MAX bytes of data as streams_send() does a message, in order with these, from an end that has
 * joined. */
int streams_send_data(struct streams *streams, unsigned peer, const unsigned char *bytes, size_t size);

/* Has streams_send() keep what it is given until streams_flush(), so that what is sent in one go takes one call of the
 * system. */
void streams_gather(struct streams *streams);
void streams_flush(struct streams *streams);

/* Bytes of messages and data, with 8 for each, that the peer has not acknowledged; it does so with all that it sends,
 * after 64 KiB at once, and after a quarter of a second at the latest. */
size_t streams_unsent(const struct streams *streams, unsigned peer);

/* True where data may be sent to the peer: little waits for the socket to take it, and at most
 * STREAM_UNACKNOWLEDGED_MAX bytes are not acknowledged. So what is sent is still in a cache when the socket takes it,
 * and neither end has to keep much of it. */
#define STREAM_UNACKNOWLEDGED_MAX ((size_t)8 << 20)
bool streams_has_room(const struct streams *streams, unsigned peer);

/* True while messages can be sent to the peer, though they may wait for it to come back. */
bool streams_is_open(const struct streams *streams, unsigned peer);

/* Tells the peer that this end leaves in order, behind all that was sent. What comes from it is still told, but for its
 * loss; nothing more can be sent. When it has acknowledged all its connection is closed. */
void streams_part(struct streams *streams, unsigned peer);

/* Cuts the peer off: nothing more comes from it, nothing is told of it, and it is not taken back. */
void streams_drop(struct streams *streams, unsigned peer);

/* True where every peer has acknowledged all that was sent to it, or has gone. */
bool streams_are_flushed(const struct streams *streams);

/* Closes all, and removes sockets from their folders; peers that were not parted from find their connection broken.
 * NULL is fine. */
void streams_free(struct streams *streams);
