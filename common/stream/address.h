/* SPDX-License-Identifier: MIT */
/* Addresses of streams: a Unix socket of this machine, or a TCP port. */
#pragma once

#include "common/config/address.h"
#include "common/util/error.h"

#include <stdbool.h>

#define STREAM_PATH_MAX         108
#define STREAM_ADDRESS_TEXT_MAX (ADDRESS_TEXT_MAX + sizeof "unix:")

struct stream_address {
    char path[STREAM_PATH_MAX]; /* path of a Unix socket; empty: the address is the TCP port `port` */
    struct address port;
};

/* Parses unix:PATH, /PATH, HOST:PORT or tcp:HOST:PORT. An IPv6 host must be in brackets. Does not resolve names. */
int stream_address_parse(struct stream_address *address, const char *text, struct error *error);

bool stream_address_is_tcp(const struct stream_address *address);

void stream_address_print(const struct stream_address *address, char text[STREAM_ADDRESS_TEXT_MAX]);
