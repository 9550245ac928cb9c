/* SPDX-License-Identifier: MIT */
/* Streams: messages of the protocol between separate launches, over sockets. The supermaster listens; the masters of
 * pods join. streams_poll() returns events in order; there are no callbacks. If the connection of a peer breaks, the
 * peer may return within the grace time. In this case no message is lost or duplicated, and the user does not notice.
 * PROTOCOL.md, "Streams", defines the bytes.
 *
 * Streams make progress only when the event base runs. If the base of an end does not run for a second, the other end
 * treats it as silent, and disconnects it until the base runs again. While the base of an end does not run, this end
 * does not treat its peers as silent. */
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

/* Default grace times, which a set and its pods use at both ends: see struct streams_setup. */
#define STREAM_GRACE_NS  UINT64_C(10000000000)
#define STREAM_CLOSED_NS UINT64_C(2000000000)

struct stream_lineup {
    uint32_t workers; /* 1 to 2^20 */
    uint32_t cores;
    /* name of the pod's node up to the first dot; not empty; graphic ASCII characters only */
    char name[STREAM_NAME_MAX];
};

struct stream_welcome {
    uint32_t first_rank; /* rank of the pod's master; the workers follow */
    const char *words;   /* the command line of the pod's ranks; each word ends with '\0' */
    size_t words_bytes;
    bool is_near; /* the pod has joined by a Unix socket, so the set is on the pod's node */
};

enum stream_event_type {
    STREAM_JOINS, /* a pod wants to join; the user must call streams_welcome() or streams_refuse(), at once or later */
    STREAM_MESSAGE,
    STREAM_DATA, /* data that belong to an earlier message; only at the listening end */
    STREAM_LEFT, /* a peer has left in order; no further messages are sent in either direction */
    /* A peer is lost: it has not returned within the grace time, or has violated the protocol, or has left before it
     * got an answer. No message follows in either direction. After streams_part() a peer is never reported as lost. */
    STREAM_LOST,
};

struct stream_event {
    enum stream_event_type type;
    unsigned peer;
    const unsigned char *bytes; /* content of a MESSAGE or DATA; valid until the next call of streams_poll() */
    size_t size;
    struct stream_lineup lineup;
};

struct streams_setup {
    struct event_base *base;
    /* Borrowed, like `base`. NULL: the real world, with libevent. Tests use simulated worlds: see world.h. */
    struct stream_world *world;
    /* [STREAM_KEY_BYTES] the pre-shared key; may be NULL. Without it, streams_listen() accepts no TCP ports, and a pod
     * joins at a TCP port with a munge credential. */
    const unsigned char *key;
    uint64_t grace_ns;
    /* grace time that is used if the peer has closed the connection, for example because its process has ended */
    uint64_t closed_ns;
    void (*warn)(void *context, const char *line); /* gets a line about each refused stranger; may be NULL */
    void *context;
};

/* Opens the listening end at one or more addresses. A Unix socket has mode 0600, and accepts only peers of this user.
 * If an address fails, the error names it. */
struct streams *streams_listen(const struct streams_setup *setup, const struct stream_address *addresses, size_t count,
                               struct error *error);

const struct stream_address *streams_address(const struct streams *streams, size_t index);

/* Joins a set as a pod: runs the event base for at most `patience_ns`, until the set has welcomed the pod. The words of
 * the welcome belong to the streams. On failure errno is 0 if the set has refused the pod. It is EACCES if the peer is
 * not this set (another key, user or protocol), and ETIMEDOUT if no answer came. The set is peer number 0 and the only
 * peer. */
struct streams *streams_join(const struct streams_setup *setup, const struct stream_address *address,
                             const struct stream_lineup *lineup, uint64_t patience_ns, struct stream_welcome *welcome,
                             struct error *error);

/* Takes the next event of any peer. Returns false if there is none. A peer number is never used again. If a peer has
 * ended, all calls with its number do nothing. */
bool streams_poll(struct streams *streams, struct stream_event *event);

/* Reads available input. If there is none, this costs only one system call. The event base runs in this call only if
 * there are many peers, so the caller must still run the base from time to time. */
void streams_look(struct streams *streams);

/* These functions answer a pod that wants to join. The welcome is copied. The line of a refusal is shown to the pod's
 * user. If memory runs out, streams_welcome() returns -1 and the pod is refused. */
int streams_welcome(struct streams *streams, unsigned peer, const struct stream_welcome *welcome);
void streams_refuse(struct streams *streams, unsigned peer, const char *line);

/* Copies a message of 1 to MESSAGE_MAX bytes, and sends it as soon as the socket accepts it. Does nothing if the peer
 * is not open. Returns -1 if memory runs out, or if the peer is disconnected and 1 GiB is unacknowledged. */
int streams_send(struct streams *streams, unsigned peer, const unsigned char *bytes, size_t size);

/* Like streams_send(), but sends 1 to STREAM_DATA_MAX bytes of data. Only for the joining end. Messages and data arrive
 * in the order in which they were sent. */
int streams_send_data(struct streams *streams, unsigned peer, const unsigned char *bytes, size_t size);

/* After streams_gather(), output is held back until streams_flush(). This saves system calls. */
void streams_gather(struct streams *streams);
void streams_flush(struct streams *streams);

/* Returns the number of unacknowledged bytes of messages and data, plus 8 for each message. Each frame that the peer
 * sends is an acknowledgement. If the peer sends nothing else, it acknowledges after 64 KiB, or after a quarter of a
 * second. */
size_t streams_unsent(const struct streams *streams, unsigned peer);

/* Returns whether data may be sent. This is true if little output waits for the socket, and at most
 * STREAM_UNACKNOWLEDGED_MAX bytes are unacknowledged. These limits keep the data in the cache, and neither end needs
 * much memory. */
#define STREAM_UNACKNOWLEDGED_MAX ((size_t)8 << 20)
bool streams_has_room(const struct streams *streams, unsigned peer);

/* Returns whether messages to the peer can be sent. They can also be sent while the peer is disconnected, until its
 * grace time ends. */
bool streams_is_open(const struct streams *streams, unsigned peer);

/* Tells the peer that this end will leave after it has sent all output. Messages of the peer are still returned, but
 * its loss is no longer reported. The connection is closed when the peer has acknowledged all output. */
void streams_part(struct streams *streams, unsigned peer);

void streams_drop(struct streams *streams, unsigned peer);

/* Returns whether every peer has acknowledged all output or has ended. */
bool streams_are_flushed(const struct streams *streams);

/* Closes everything and removes Unix sockets. The peers see a broken connection. NULL is allowed. */
void streams_free(struct streams *streams);
