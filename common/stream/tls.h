/* SPDX-License-Identifier: MIT */
/* TLS 1.3 with a pre-shared key: no certificates, no other versions, and forward secrecy for each connection. Builds
 * without OpenSSL use no_tls.c. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct stream_world_ops;
struct tls;
struct tls_session;

/* Makes the state that all connections of an end share. Copies the key, which has STREAM_KEY_BYTES bytes. If `key` is
 * NULL, each connection needs a key of its own. */
struct tls *tls_new(const unsigned char *key, bool listens, struct error *error);
void tls_free(struct tls *tls);

/* Makes the state of a connection over a borrowed socket. */
struct tls_session *tls_session_new(struct tls *tls, const struct stream_world_ops *ops, int fd);
void tls_session_free(struct tls_session *session);

/* Copies a key for this connection only. A connecting end then uses this key in place of the common key. A listening
 * end accepts both keys. */
int tls_session_take_key(struct tls_session *session, const unsigned char *key);

int tls_handshake(struct tls_session *session, struct error *error);
ssize_t tls_read(struct tls_session *session, unsigned char *bytes, size_t size);
ssize_t tls_write(struct tls_session *session, const unsigned char *bytes, size_t size);
int tls_flush(struct tls_session *session);
bool tls_has_more(const struct tls_session *session);
bool tls_has_heard(const struct tls_session *session);
