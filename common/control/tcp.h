/* SPDX-License-Identifier: MIT */
/* Ports: looking up an address, and listening, as the control socket does where --http asks for that. */
#pragma once

#include "common/config/address.h"
#include "common/util/error.h"

#include <stdbool.h>

struct addrinfo;

/* Looks up an address to listen at, or to connect to, by getaddrinfo(). Returns NULL, and `found` is the caller's; or a
 * text that says why there is none. In one file (deploy/one) only numbers and localhost are found. */
const char *tcp_look_up(const struct address *address, bool listens, struct addrinfo **found);

/* Listens at the address, whose port is the one that was found afterwards. Returns the socket, which is the caller's;
 * -1 with one line. */
int tcp_listen(struct address *address, struct error *error);
