/* SPDX-License-Identifier: MIT */
/* Addresses by which other machines reach this machine, for the ticket of a set that listens at all of them. */
#pragma once

#include "common/stream/address.h"

#include <stdbool.h>
#include <stddef.h>

struct sockaddr;

bool own_addresses_are_meant(const struct stream_address *address);

/* Replaces :: by 0.0.0.0 if the system has no IPv6. */
void own_addresses_settle(struct stream_address *address);

/* Lists addresses of active interfaces with the port of `anywhere`, IPv4 first. Returns their number, at most
 * `room`. */
size_t own_addresses_list(const struct stream_address *anywhere, struct stream_address *list, size_t room);

bool own_address_is_for_others(const struct sockaddr *address);
