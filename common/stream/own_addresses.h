/* SPDX-License-Identifier: MIT */
/* Finds the addresses by which other machines reach this machine. The ticket of a set needs them if the set listens at
 * all addresses. */
#pragma once

#include "common/stream/address.h"

#include <stdbool.h>
#include <stddef.h>

struct sockaddr;

bool own_addresses_are_meant(const struct stream_address *address);

/* If the system has no IPv6, replaces the address :: by 0.0.0.0. */
void own_addresses_settle(struct stream_address *address);

/* Lists the addresses of active network interfaces, IPv4 first, each with the port of `anywhere`. Returns their number,
 * at most `room`. */
size_t own_addresses_list(const struct stream_address *anywhere, struct stream_address *list, size_t room);

bool own_address_is_for_others(const struct sockaddr *address);
