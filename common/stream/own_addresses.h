/* SPDX-License-Identifier: MIT */
/* The addresses of this machine at which others reach it, for the ticket of whoever listens at all of them. */
#pragma once

#include "common/stream/address.h"

#include <stdbool.h>
#include <stddef.h>

struct sockaddr;

/* True where the host means any address: 0.0.0.0, those of IPv4, or ::, those of IPv6, too. */
bool own_addresses_are_meant(const struct stream_address *address);

/* Makes :: 0.0.0.0 where the system has no IPv6. */
void own_addresses_settle(struct stream_address *address);

/* Lists those of the interfaces that are up, with the port of `anywhere`, whose host means any: of IPv4 before those of
 * IPv6. Returns how many, at most `room`; 0 where there is no network. */
size_t own_addresses_list(const struct stream_address *anywhere, struct stream_address *list, size_t room);

/* True where another machine may connect to the address: one of IPv4 or IPv6 that is neither of the loopback nor, of
 * IPv6, of a link, which would need the name of an interface of that machine. */
bool own_address_is_for_others(const struct sockaddr *address);
