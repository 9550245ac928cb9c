/* SPDX-License-Identifier: MIT */
/* Addresses of streams: a socket in a folder of this machine, or a port of any. */
#pragma once

#include "common/config/address.h"
#include "common/util/error.h"

#include <stdbool.h>

/* The room for the path of a socket, with the NUL: that of sun_path. */
#define STREAM_PATH_MAX 108
/* The room for an address as text. */
#define STREAM_ADDRESS_TEXT_MAX (ADDRESS_TEXT_MAX + sizeof "unix:")

struct stream_address {
    char path[STREAM_PATH_MAX]; /* of the socket; empty: a port */
    struct address port;        /* where the path is empty */
};

/* Reads unix:PATH, /PATH, or HOST:PORT with or without tcp: before it, the host in brackets where it is one of IPv6. -1
 * with one line. No name is looked up. */
int stream_address_parse(struct stream_address *address, const char *text, struct error *error);

bool stream_address_is_tcp(const struct stream_address *address);

/* Writes the address as stream_address_parse() reads it. */
void stream_address_print(const struct stream_address *address, char text[STREAM_ADDRESS_TEXT_MAX]);
