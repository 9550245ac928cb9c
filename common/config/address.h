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
    char host[ADDRESS_HOST_MAX]; /* host name or IP address, without brackets; empty: no address */
    uint16_t port;
};

/* Parses PORT, :PORT or HOST:PORT. An IPv6 host must be in brackets. If there is no host, the address is the loopback
 * address. If the text is invalid, returns -1 and leaves the error empty. The caller then prints ADDRESS_ACCEPTED. */
int address_parse(struct address *address, const char *text, struct error *error);

/* Returns true if only processes of this machine can connect to the address. Does not resolve host names: only the name
 * "localhost" counts as a loopback address. */
bool address_is_loopback(const struct address *address);

void address_print(const struct address *address, char text[ADDRESS_TEXT_MAX]);

/* `value`: the Host header of a request, or NULL. Returns true if the header names the host of `address` or the
 * loopback. All other names are rejected, to prevent DNS rebinding: the host name of a hostile web page may resolve to
 * this machine, and the page could then reach the socket. */
bool address_has_host(const struct address *address, const char *value);
