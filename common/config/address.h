/* SPDX-License-Identifier: MIT */
/* The TCP address of the control socket: --http. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Size of the longest host, with NUL. */
#define ADDRESS_HOST_MAX 254
/* Size of HOST:PORT with IPv6 brackets. */
#define ADDRESS_TEXT_MAX (ADDRESS_HOST_MAX + 8)
#define ADDRESS_ACCEPTED "PORT, HOST:PORT or [IPV6]:PORT; a port is 0, for any that is free, to 65535"

#define ADDRESS_WARNING                                                                                                \
    "other machines can connect, and nothing is encrypted: whoever sees the traffic has the token, and so all that "   \
    "it permits"

struct address {
    char host[ADDRESS_HOST_MAX]; /* name or number without brackets; empty: no address */
    uint16_t port;               /* 0: any free port */
};

/* Reads PORT, :PORT, or HOST:PORT, with an IPv6 host in brackets. Without a host the address is the loopback. On
 * failure the error is empty: see ADDRESS_ACCEPTED. */
int address_parse(struct address *address, const char *text, struct error *error);

/* True if the address can be reached only from this machine, as far as that is known without name resolution. */
bool address_is_loopback(const struct address *address);

void address_print(const struct address *address, char text[ADDRESS_TEXT_MAX]);

/* True if the Host header of a request (NULL: none) names this machine as `address` does, or as loopback. This rejects
 * pages that reach the socket by a host name of their own (DNS rebinding). */
bool address_has_host(const struct address *address, const char *value);
