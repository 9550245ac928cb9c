/* SPDX-License-Identifier: MIT */
/* Listening at a port: see tcp.h. */
#include "common/control/tcp.h"

#include "common/os/modules.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 16

static int listen_at(const struct addrinfo *found)
{
    const int on = 1, off = 0, fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    /* The address [::] then also accepts IPv4, whatever the default of the system is. */
    if (found->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    const int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    if (getsockname(fd, (struct sockaddr *)&bound, &size) < 0)
        return 0;
    return ntohs(bound.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)&bound)->sin6_port
                                             : ((const struct sockaddr_in *)&bound)->sin_port);
}

const char *tcp_look_up(const struct address *address, bool listens, struct addrinfo **found)
{
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | (listens ? AI_PASSIVE : 0)};
    const char *host = address->host;
    char port[8];
    snprintf(port, sizeof port, "%u", (unsigned)address->port);
    /* A static single-file build resolves only numbers and localhost. For other names the C library would have to load
     * modules. */
    if (is_one_file()) {
        wanted.ai_flags |= AI_NUMERICHOST;
        host = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    }
    const int result = getaddrinfo(host, port, &wanted, found);
    if (result == EAI_NONAME && is_one_file())
        return "this HDSS is one file, which looks up no names; accepted: a number, say 192.0.2.1";
    return result == 0 ? NULL : gai_strerror(result);
}

int tcp_listen(struct address *address, struct error *error)
{
    struct addrinfo *found;
    char text[ADDRESS_TEXT_MAX];
    const char *refused = tcp_look_up(address, true, &found);
    address_print(address, text);
    if (refused != NULL)
        return error_set(error, "cannot listen at %s: %s", text, refused);
    int fd = -1;
    for (const struct addrinfo *one = found; one != NULL && fd < 0; one = one->ai_next)
        fd = listen_at(one);
    const int reason = errno;
    freeaddrinfo(found);
    if (fd < 0)
        return error_set(error, "cannot listen at %s: %s", text, strerror(reason));
    address->port = port_of(fd);
    return fd;
}
