/* SPDX-License-Identifier: MIT */
/* TCP: resolving addresses and listening. */
#pragma once

#include "common/config/address.h"
#include "common/util/error.h"

#include <stdbool.h>

struct addrinfo;

/* Resolves an address with getaddrinfo(). `listens`: true if the caller will listen at the address, false if it will
 * connect to it. If it succeeds, returns NULL and sets `*found`, which the caller owns. If it fails, returns the
 * reason. A static single-file build (deploy/one) resolves only numbers and localhost. */
const char *tcp_look_up(const struct address *address, bool listens, struct addrinfo **found);

/* Listens at the address. If the system has chosen the port, writes that port to `address`. Returns the socket, which
 * the caller owns, or -1. */
int tcp_listen(struct address *address, struct error *error);
