/* SPDX-License-Identifier: MIT */
/* A connected non-blocking socket, with or without TLS. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct greeting;
struct stream_world_ops;
struct tls;
struct tls_session;

enum channel_result {
    CHANNEL_READS = -1,  /* call the function again when the socket is readable */
    CHANNEL_WRITES = -2, /* call the function again when the socket is writable */
    CHANNEL_BROKEN = -3,
    CHANNEL_FAILED = -4, /* the peer violated TLS or has another key */
    CHANNEL_WAITS = -5,  /* only from channel_handshake(): call it again when channel_awaits() is readable */
};

struct channel {
    const struct stream_world_ops *ops;
    int fd;
    struct tls_session *tls;
    struct greeting *greeting; /* owned; NULL if there is no greeting, and after the end of the handshake */
};

/* Takes over the socket. Uses TLS unless `tls` is NULL. If memory runs out, returns -1, and the caller still owns the
 * socket. */
int channel_init(struct channel *channel, const struct stream_world_ops *ops, int fd, struct tls *tls);
void channel_fini(struct channel *channel);

void channel_greet(struct channel *channel, struct greeting *greeting);

/* Continues the greeting and the TLS handshake. Returns 0 when both are complete, otherwise a channel_result. `error`
 * is set if the result is CHANNEL_FAILED. */
int channel_handshake(struct channel *channel, struct error *error);

int channel_awaits(const struct channel *channel);

/* channel_read() and channel_write() return the number of bytes transferred (at least 1), or a channel_result. With
 * TLS, written bytes may stay in a buffer until channel_flush(). */
ssize_t channel_read(struct channel *channel, unsigned char *bytes, size_t size);
ssize_t channel_write(struct channel *channel, const unsigned char *bytes, size_t size);

int channel_flush(struct channel *channel);

/* Returns whether the last channel_read() has received bytes from the socket. This may be true even if that call has
 * returned no bytes. */
bool channel_has_heard(const struct channel *channel);

/* Returns whether channel_read() would return bytes that are already in its buffers. If there are such bytes, the
 * socket need not become readable. */
bool channel_has_more(const struct channel *channel);
