/* SPDX-License-Identifier: MIT */
/* Addresses of streams as text: see address.h. Ports are parsed as for --http, but a host is required, because a
 * port for pods is meant for other machines. */
#include "common/stream/address.h"

#include "common/config/address.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define STREAM_ADDRESS_ACCEPTED                                                                                        \
    "unix:PATH, /PATH, HOST:PORT or [IPV6]:PORT; a path has at most 107 bytes, a port is 0, for any that is free, to " \
    "65535"

static bool skip_prefix(const char **text, const char *prefix)
{
    const size_t length = strlen(prefix);
    if (strncmp(*text, prefix, length) != 0)
        return false;
    *text += length;
    return true;
}

int stream_address_parse(struct stream_address *address, const char *text, struct error *error)
{
    const char *rest = text;
    struct error ignored;
    *address = (struct stream_address){0};
    if (text[0] == '/' || skip_prefix(&rest, "unix:")) {
        if (rest[0] == '\0' || strlen(rest) >= sizeof address->path)
            return error_set(error, "not an address: '%s'; accepted: " STREAM_ADDRESS_ACCEPTED, text);
        strcpy(address->path, rest);
        return 0;
    }
    skip_prefix(&rest, "tcp:");
    if (rest[0] == ':' || strchr(rest, ':') == NULL || address_parse(&address->port, rest, &ignored) < 0)
        return error_set(error, "not an address: '%s'; accepted: " STREAM_ADDRESS_ACCEPTED, text);
    return 0;
}

bool stream_address_is_tcp(const struct stream_address *address)
{
    return address->path[0] == '\0';
}

void stream_address_print(const struct stream_address *address, char text[STREAM_ADDRESS_TEXT_MAX])
{
    if (stream_address_is_tcp(address))
        address_print(&address->port, text);
    else
        snprintf(text, STREAM_ADDRESS_TEXT_MAX, "%s%s", address->path[0] == '/' ? "" : "unix:", address->path);
}
