/* SPDX-License-Identifier: MIT */
/* The addresses of this machine: see own_addresses.h. */
#include "common/stream/own_addresses.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANY_IPV4 "0.0.0.0"
#define ANY_IPV6 "::"

bool own_addresses_are_meant(const struct stream_address *address)
{
    return strcmp(address->port.host, ANY_IPV4) == 0 || strcmp(address->port.host, ANY_IPV6) == 0;
}

void own_addresses_settle(struct stream_address *address)
{
    if (strcmp(address->port.host, ANY_IPV6) != 0)
        return;
    const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        close(fd);
    else if (errno == EAFNOSUPPORT)
        strcpy(address->port.host, ANY_IPV4);
}

bool own_address_is_for_others(const struct sockaddr *address)
{
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
    switch (address->sa_family) {
    case AF_INET: memcpy(&ipv4, address, sizeof ipv4); return ntohl(ipv4.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
    case AF_INET6:
        memcpy(&ipv6, address, sizeof ipv6);
        return !IN6_IS_ADDR_LOOPBACK(&ipv6.sin6_addr) && !IN6_IS_ADDR_LINKLOCAL(&ipv6.sin6_addr);
    default: return false;
    }
}

static bool take_address(struct stream_address *taken, const struct ifaddrs *one, int family, uint16_t port)
{
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
    if (one->ifa_addr == NULL || (one->ifa_flags & IFF_UP) == 0 || one->ifa_addr->sa_family != family ||
        !own_address_is_for_others(one->ifa_addr))
        return false;
    *taken = (struct stream_address){.port.port = port};
    if (family == AF_INET)
        memcpy(&ipv4, one->ifa_addr, sizeof ipv4);
    else
        memcpy(&ipv6, one->ifa_addr, sizeof ipv6);
    const void *number = family == AF_INET ? (const void *)&ipv4.sin_addr : (const void *)&ipv6.sin6_addr;
    return inet_ntop(family, number, taken->port.host, sizeof taken->port.host) != NULL;
}

size_t own_addresses_list(const struct stream_address *anywhere, struct stream_address *list, size_t room)
{
    static const int families[] = {AF_INET, AF_INET6};
    const unsigned used = strcmp(anywhere->port.host, ANY_IPV6) == 0 ? 2 : 1;
    struct ifaddrs *all = NULL;
    size_t count = 0;
    if (getifaddrs(&all) < 0)
        return 0;
    for (unsigned i = 0; i < used; i++)
        for (const struct ifaddrs *one = all; one != NULL && count < room; one = one->ifa_next)
            count += take_address(&list[count], one, families[i], anywhere->port.port);
    freeifaddrs(all);
    return count;
}
