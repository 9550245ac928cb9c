/* SPDX-License-Identifier: MIT */
/* Streams: messages of the protocol between separate launches, over sockets. The supermaster listens; the masters of
 * pods join. streams_poll() returns events in order; there are no callbacks. A peer whose connection breaks may
 * return within the grace time: then no message is lost or duplicated, and the user does not notice. PROTOCOL.md,
 * "Streams", defines the bytes.
 *
 * Streams progress only in turns of the event base. An end without turns for a second counts as silent and is
 * disconnected until it turns again; it ignores the silence of peers during that time. */
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

/* Default grace times between a set and its pods, at both ends: see struct streams_setup. */
#define STREAM_GRACE_NS  UINT64_C(10000000000)
#define STREAM_CLOSED_NS UINT64_C(2000000000)

struct stream_lineup {
    uint32_t workers; /* 1 to 2^20 */
    uint32_t cores;
    char name[STREAM_NAME_MAX]; /* of its node up to the first dot: one or more graphic ASCII characters */
};

struct stream_welcome {
    uint32_t first_rank; /* rank of the pod's master; the workers follow */
    const char *words;   /* command line for its ranks; each word ends with '\0' */
    size_t words_bytes;
    bool is_near; /* set for a pod that joined by a Unix socket: the set is on its node */
};

enum stream_event_type {
    STREAM_JOINS, /* a pod wants to join: answer with streams_welcome() or streams_refuse(), now or later */
    STREAM_MESSAGE,
    STREAM_DATA, /* at the listening end: data of a preceding message */
    STREAM_LEFT, /* a peer has left in order: no further messages in either direction */
    /* A peer is lost: it did not return within the grace time, violated the protocol, or left before the answer. No
     * further messages in either direction. Never comes after streams_part(). */
    STREAM_LOST,
};

struct stream_event {
    enum stream_event_type type;
    unsigned peer;
    const unsigned char *bytes; /* of MESSAGE and DATA; valid until the next call */
    size_t size;
    struct stream_lineup lineup;
};

struct streams_setup {
    struct event_base *base;
    struct stream_world *world; /* borrowed, like `base`; NULL: the real world. Tests use other worlds: world.h */
    /* [STREAM_KEY_BYTES] pre-shared key; NULL: no listening at ports, and joining at ports needs a munge credential */
    const unsigned char *key;
    uint64_t grace_ns;
    uint64_t closed_ns; /* grace time after a connection was closed, for example because a process has ended */
    void (*warn)(void *context, const char *line); /* for refused strangers; may be NULL */
    void *context;
};

/* Opens the listening end at one or more addresses. A Unix socket has mode 0600 and accepts only peers of this user.
 * The error names the failing address. */
struct streams *streams_listen(const struct streams_setup *setup, const struct stream_address *addresses, size_t count,
                               struct error *error);

const struct stream_address *streams_address(const struct streams *streams, size_t index);

/* Joins as a pod: runs the base until it is welcomed, at most `patience_ns`. The words of the welcome belong to the
 * streams. On failure errno is 0 if the pod was refused, EACCES if the peer is not the set (other key, user or
 * protocol), ETIMEDOUT if there was no answer. The only peer has number 0. */
struct streams *streams_join(const struct streams_setup *setup, const struct stream_address *address,
                             const struct stream_lineup *lineup, uint64_t patience_ns, struct stream_welcome *welcome,
                             struct error *error);

/* Takes the next event of any peer. Returns false if there is none. Peer numbers are not reused; calls for ended
 * peers do nothing. */
bool streams_poll(struct streams *streams, struct stream_event *event);

/* Reads available input, with one system call if there is none. It turns the base only if there are many peers, so
 * the caller must still turn the base from time to time. */
void streams_look(struct streams *streams);

/* Answer a pod that wants to join. The welcome is copied; the pod's user sees the line of a refusal. -1: out of
 * memory; then the pod is refused. */
int streams_welcome(struct streams *streams, unsigned peer, const struct stream_welcome *welcome);
void streams_refuse(struct streams *streams, unsigned peer, const char *line);

/* Sends a copy of a message of 1 to MESSAGE_MAX bytes, as soon as the socket accepts it. Does nothing if the peer is
 * not open. -1 if memory runs out, or if a disconnected peer has 1 GiB unacknowledged. */
int streams_send(struct streams *streams, unsigned peer, const unsigned char *bytes, size_t size);

/* Like streams_send(), for 1 to STREAM_DATA_MAX bytes of data, in order with messages, at the joining end. */
int streams_send_data(struct streams *streams, unsigned peer, const unsigned char *bytes, size_t size);

/* Hold back output until streams_flush(), to save system calls. */
void streams_gather(struct streams *streams);
void streams_flush(struct streams *streams);

/* Returns the number of unacknowledged bytes of messages and data, and 8 more for each message. The peer
 * acknowledges with all its output, after 64 KiB, and after a quarter of a second. */
size_t streams_unsent(const struct streams *streams, unsigned peer);

/* Returns whether data may be sent: little output waits for the socket, and at most STREAM_UNACKNOWLEDGED_MAX bytes
 * are unacknowledged. This keeps the data in the cache and limits the memory of both ends. */
#define STREAM_UNACKNOWLEDGED_MAX ((size_t)8 << 20)
bool streams_has_room(const struct streams *streams, unsigned peer);

/* Returns whether messages can be sent. It is true even while the peer is disconnected for the moment. */
bool streams_is_open(const struct streams *streams, unsigned peer);

/* Says goodbye to the peer after all output. Messages from it are still returned, but its loss is not reported any
 * more. The connection is closed when all output is acknowledged. */
void streams_part(struct streams *streams, unsigned peer);

void streams_drop(struct streams *streams, unsigned peer);

/* Returns whether each peer has acknowledged all output or has ended. */
bool streams_are_flushed(const struct streams *streams);

/* Closes everything and removes Unix sockets; other peers see a broken connection. NULL is allowed. */
void streams_free(struct streams *streams);
