/* SPDX-License-Identifier: MIT */
/* A connected socket that never blocks, with TLS or without. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct greeting;
struct stream_world_ops;
struct tls;
struct tls_session;

/* The results of a call that has moved no byte. */
enum channel_result {
    CHANNEL_READS = -1,  /* to be called again when the socket can be read */
    CHANNEL_WRITES = -2, /* when it can be written */
    CHANNEL_BROKEN = -3, /* the other end has closed the connection, or the network has */
    CHANNEL_FAILED = -4, /* the other end broke the rules of TLS, or has another key */
    CHANNEL_WAITS = -5,  /* when channel_awaits() can be read; of a handshake alone */
};

struct channel {
    const struct stream_world_ops *ops;
    int fd;                    /* owned */
    struct tls_session *tls;   /* owned; NULL: bare */
    struct greeting *greeting; /* owned; NULL: none, or the handshake is over */
};

/* Takes the socket. With `tls` not NULL it speaks TLS, as the end that listens or connects, by what that is for. -1
 * when memory is out: then the socket is still the caller's. */
int channel_init(struct channel *channel, const struct stream_world_ops *ops, int fd, struct tls *tls);
void channel_fini(struct channel *channel);

/* Has a greeting, which it takes, go before TLS. */
void channel_greet(struct channel *channel, struct greeting *greeting);

/* Goes on with the greeting, and with the handshake of TLS. 0 when it is over, as it is at once without TLS; else a
 * channel_result, with one line where that is CHANNEL_FAILED. */
int channel_handshake(struct channel *channel, struct error *error);

/* The descriptor for CHANNEL_WAITS. */
int channel_awaits(const struct channel *channel);

/* Bytes that were read or written, at least 1, of `size`, at least 1; else a channel_result. TLS may still have some of
 * those that were written: channel_flush(). */
ssize_t channel_read(struct channel *channel, unsigned char *bytes, size_t size);
ssize_t channel_write(struct channel *channel, const unsigned char *bytes, size_t size);

/* Has the socket take all that was written. 0 when it has, else a channel_result. */
int channel_flush(struct channel *channel);

/* True where the last channel_read() has received something of the other end, be it less than it could give. */
bool channel_has_heard(const struct channel *channel);

/* True where there are bytes to read of which the socket shows nothing. */
bool channel_has_more(const struct channel *channel);
