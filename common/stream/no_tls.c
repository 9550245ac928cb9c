/* SPDX-License-Identifier: MIT */
/* Stubs for builds without TLS: -Dtls=disabled, or no OpenSSL. */
#include "common/stream/tls.h"

#include "common/stream/channel.h"
#include "common/util/error.h"

struct tls *tls_new(const unsigned char *key, bool listens, struct error *error)
{
    (void)key, (void)listens;
    error_set(error,
              "this build has no TLS, which HOST:PORT takes; accepted: a build with OpenSSL (Debian: libssl-dev) "
              "and without -Dtls=disabled");
    return NULL;
}

void tls_free(struct tls *tls)
{
    (void)tls;
}

struct tls_session *tls_session_new(struct tls *tls, const struct stream_world_ops *ops, int fd)
{
    (void)tls, (void)ops, (void)fd;
    return NULL;
}

void tls_session_free(struct tls_session *session)
{
    (void)session;
}

int tls_session_take_key(struct tls_session *session, const unsigned char *key)
{
    (void)session, (void)key;
    return -1;
}

int tls_handshake(struct tls_session *session, struct error *error)
{
    (void)session, (void)error;
    return CHANNEL_BROKEN;
}

ssize_t tls_read(struct tls_session *session, unsigned char *bytes, size_t size)
{
    (void)session, (void)bytes, (void)size;
    return CHANNEL_BROKEN;
}

ssize_t tls_write(struct tls_session *session, const unsigned char *bytes, size_t size)
{
    (void)session, (void)bytes, (void)size;
    return CHANNEL_BROKEN;
}

int tls_flush(struct tls_session *session)
{
    (void)session;
    return CHANNEL_BROKEN;
}

bool tls_has_more(const struct tls_session *session)
{
    (void)session;
    return false;
}

bool tls_has_heard(const struct tls_session *session)
{
    (void)session;
    return false;
}
