/* SPDX-License-Identifier: MIT */
/* TCP addresses as users write them for --http and --listen. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

#define ADDRESS_HOST_MAX 254
#define ADDRESS_TEXT_MAX (ADDRESS_HOST_MAX + 8)
#define ADDRESS_ACCEPTED "PORT, HOST:PORT or [IPV6]:PORT; a port is 0, for any that is free, to 65535"

#define ADDRESS_WARNING                                                                                                \
    "other machines can connect, and nothing is encrypted: whoever sees the traffic has the token, and so all that "   \
    "it permits"

struct address {
    char host[ADDRESS_HOST_MAX]; /* name or number without brackets; empty: no address */
    uint16_t port;               /* without brackets; empty: no address */
};

/* Reads PORT, :PORT, or HOST:PORT, with an IPv6 host in brackets. Without a host, the address is the loopback. On
 * failure the error is empty; ADDRESS_ACCEPTED says what is accepted. */
int address_parse(struct address *address, const char *text, struct error *error);

/* True if only this machine can reach the address. Host names are not resolved: only "localhost" counts as the
 * loopback. */
bool address_is_loopback(const struct address *address);

void address_print(const struct address *address, char text[ADDRESS_TEXT_MAX]);

/* True if the Host header of a request (NULL: none) is the host of `address` or the loopback. This rejects web pages
 * that reach the socket by a host name of their own (DNS rebinding). */
bool address_has_host(const struct address *address, const char *value);
