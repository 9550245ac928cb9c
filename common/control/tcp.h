/* SPDX-License-Identifier: MIT */
/* TCP: resolving addresses and listening. */
#pragma once

#include "common/config/address.h"
#include "common/util/error.h"

#include <stdbool.h>

struct addrinfo;

/* Resolves an address with getaddrinfo(), to listen or to connect. Returns NULL with `found`, owned by the caller, or
 * the reason of the failure. A static single-file build (deploy/one) resolves only numbers and localhost. */
const char *tcp_look_up(const struct address *address, bool listens, struct addrinfo **found);

/* Listens at the address and sets its actual port. Returns the socket, owned by the caller, or -1. */
int tcp_listen(struct address *address, struct error *error);
