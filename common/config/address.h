/* SPDX-License-Identifier: MIT */
/* The address at which the control socket is served over TCP: --http. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

/* The room for a host, with the NUL: the longest name that there can be. */
#define ADDRESS_HOST_MAX 254
/* The room for HOST:PORT with the brackets of IPv6. */
#define ADDRESS_TEXT_MAX (ADDRESS_HOST_MAX + 8)
/* The values, for errors. */
#define ADDRESS_ACCEPTED "PORT, HOST:PORT or [IPV6]:PORT; a port is 0, for any that is free, to 65535"

/* To be said of an address that others can connect to. */
#define ADDRESS_WARNING                                                                                                \
    "other machines can connect, and nothing is encrypted: whoever sees the traffic has the token, and so all that "   \
    "it permits"

struct address {
    char host[ADDRESS_HOST_MAX]; /* a name or a number, without brackets; empty: there is no address */
    uint16_t port;               /* 0: any that is free */
};

/* Reads PORT, :PORT, HOST:PORT, or HOST in brackets where it is one of IPv6; without a host it is this machine alone.
 * -1 with an empty line: see ADDRESS_ACCEPTED. */
int address_parse(struct address *address, const char *text, struct error *error);

/* True where nobody on another machine can connect, as is known of the host without asking anybody. */
bool address_is_loopback(const struct address *address);

/* Writes the address as it stands in a URL. */
void address_print(const struct address *address, char text[ADDRESS_TEXT_MAX]);

/* True where the value of a request's Host, NULL if it has none, names this machine as `address` does, or as every
 * machine calls itself. A page in a browser that has been sent here by a name of its own has that name. */
bool address_has_host(const struct address *address, const char *value);
