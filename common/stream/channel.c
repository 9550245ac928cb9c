/* SPDX-License-Identifier: MIT */
/* Reading and writing a socket, by way of TLS where it has that: see channel.h. */
#include "common/stream/channel.h"

#include "common/stream/tls.h"
#include "common/util/error.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

int channel_init(struct channel *channel, int fd, struct tls *tls)
{
    *channel = (struct channel){.fd = fd};
    return tls != NULL && (channel->tls = tls_session_new(tls, fd)) == NULL ? -1 : 0;
}

void channel_fini(struct channel *channel)
{
    tls_session_free(channel->tls);
    if (channel->fd >= 0)
        close(channel->fd);
    *channel = (struct channel){.fd = -1};
}

int channel_handshake(struct channel *channel, struct error *error)
{
    return channel->tls != NULL ? tls_handshake(channel->tls, error) : 0;
}

ssize_t channel_read(struct channel *channel, unsigned char *bytes, size_t size)
{
    if (channel->tls != NULL)
        return tls_read(channel->tls, bytes, size);
    const ssize_t count = recv(channel->fd, bytes, size, 0);
    if (count > 0)
        return count;
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? CHANNEL_READS : CHANNEL_BROKEN;
}

ssize_t channel_write(struct channel *channel, const unsigned char *bytes, size_t size)
{
    if (channel->tls != NULL)
        return tls_write(channel->tls, bytes, size);
    const ssize_t count = send(channel->fd, bytes, size, MSG_NOSIGNAL);
    if (count > 0)
        return count;
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? CHANNEL_WRITES : CHANNEL_BROKEN;
}

bool channel_has_more(const struct channel *channel)
{
    return channel->tls != NULL && tls_has_more(channel->tls);
}
