/* SPDX-License-Identifier: MIT */
/* The port at which the control socket is served where --http asks for that. */
#pragma once

#include "common/config/address.h"
#include "common/util/error.h"

/* Listens at the address, whose port is the one that was found afterwards. Returns the socket, which is the caller's;
 * -1 with one line. */
int tcp_listen(struct address *address, struct error *error);
