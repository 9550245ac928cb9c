/* SPDX-License-Identifier: MIT */
/* Socket input and output, optionally with TLS: see channel.h. */
#include "common/stream/channel.h"

#include "common/stream/greeting.h"
#include "common/stream/tls.h"
#include "common/stream/world.h"
#include "common/util/error.h"

#include <errno.h>
#include <sys/socket.h>

int channel_init(struct channel *channel, const struct stream_world_ops *ops, int fd, struct tls *tls)
{
    *channel = (struct channel){.ops = ops, .fd = fd};
    return tls != NULL && (channel->tls = tls_session_new(tls, ops, fd)) == NULL ? -1 : 0;
}

void channel_fini(struct channel *channel)
{
    greeting_free(channel->greeting);
    tls_session_free(channel->tls);
    if (channel->fd >= 0)
        channel->ops->close(channel->fd);
    *channel = (struct channel){.fd = -1};
}

int channel_handshake(struct channel *channel, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct greeting *greeting = channel->greeting;
    int result = 0;
    if (channel->tls == NULL)
        return 0;
    if (greeting != NULL && !greeting->is_over) {
        result = greeting_go_on(greeting, channel->ops, channel->fd, error);
        if (result == 0 && greeting->has_key && tls_session_take_key(channel->tls, greeting->key) < 0)
            result = CHANNEL_BROKEN;
    }
    if (result == 0)
        result = tls_handshake(channel->tls, error);
    const bool is_refused = greeting != NULL && greeting->refusal.text[0] != '\0';
    if (is_refused && !greeting->brings && result == CHANNEL_BROKEN)
        /* TLS may only report that the connection is broken, although this end has refused the credential and so has
         * broken it */
        result = CHANNEL_FAILED;
    if (is_refused && result == CHANNEL_FAILED)
        *error = greeting->refusal;
    if (result == 0) {
        greeting_free(greeting);
        channel->greeting = NULL;
    }
    return result;
}

int channel_awaits(const struct channel *channel)
{
    return asking_descriptor(channel->greeting->asking);
}

void channel_greet(struct channel *channel, struct greeting *greeting)
{
    channel->greeting = greeting;
}

ssize_t channel_read(struct channel *channel, unsigned char *bytes, size_t size)
{
    if (channel->tls != NULL)
        return tls_read(channel->tls, bytes, size);
    const ssize_t count = channel->ops->receive(channel->fd, bytes, size, 0);
    if (count > 0)
        return count;
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? CHANNEL_READS : CHANNEL_BROKEN;
}

ssize_t channel_write(struct channel *channel, const unsigned char *bytes, size_t size)
{
    if (channel->tls != NULL)
        return tls_write(channel->tls, bytes, size);
    const ssize_t count = channel->ops->send(channel->fd, bytes, size, MSG_NOSIGNAL);
    if (count > 0)
        return count;
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? CHANNEL_WRITES : CHANNEL_BROKEN;
}

int channel_flush(struct channel *channel)
{
    return channel->tls != NULL ? tls_flush(channel->tls) : 0;
}

bool channel_has_heard(const struct channel *channel)
{
    return channel->tls != NULL && tls_has_heard(channel->tls);
}

bool channel_has_more(const struct channel *channel)
{
    return channel->tls != NULL && tls_has_more(channel->tls);
}
