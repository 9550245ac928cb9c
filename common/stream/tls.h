/* SPDX-License-Identifier: MIT */
/* TLS 1.3 by a key that both ends have: no certificate, no other version, and keys of each connection that nobody can
 * find out later by the shared one. In a build without OpenSSL there is none: no_tls.c. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct stream_world_ops;
struct tls;
struct tls_session;

/* For all connections of the end that listens, or that connects. The key of STREAM_KEY_BYTES is copied; NULL: there are
 * none but those of single connections. NULL with one line. */
struct tls *tls_new(const unsigned char *key, bool listens, struct error *error);
void tls_free(struct tls *tls);

/* One connection, over a socket that it borrows. NULL when memory is out. */
struct tls_session *tls_session_new(struct tls *tls, const struct stream_world_ops *ops, int fd);
void tls_session_free(struct tls_session *session);

/* Gives the connection a key of its own, which is copied: the end that connects offers it in place of the common one,
 * the end that listens takes either. -1 when memory is out. */
int tls_session_take_key(struct tls_session *session, const unsigned char *key);

/* As those of channel.h. */
int tls_handshake(struct tls_session *session, struct error *error);
ssize_t tls_read(struct tls_session *session, unsigned char *bytes, size_t size);
ssize_t tls_write(struct tls_session *session, const unsigned char *bytes, size_t size);
int tls_flush(struct tls_session *session);
bool tls_has_more(const struct tls_session *session);
bool tls_has_heard(const struct tls_session *session);
