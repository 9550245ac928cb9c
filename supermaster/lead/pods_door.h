/* SPDX-License-Identifier: MIT */
/* Listens for pods. A pod is a separate launch of a master with its workers that joins a set or a run. The supermaster
 * listens at a local socket and, if an address is given, at a TCP port. A ticket file tells pods how to connect. */
#pragma once

#include "common/config/address.h"
#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct link;
struct pod_figures;
struct runtime;
struct streams;

struct pods_door {
    char ticket[PATH_MAX];
    struct streams *streams; /* owned; NULL: the supermaster does not listen */
};

/* Listens at a local socket and, if the host of `address` is not empty, at this TCP address. Writes the ticket to the
 * absolute path `path`. The local socket is in the same folder. `reuses`: keeps the key of an existing ticket, so that
 * pods that have lost their set can return. `option`: the option that names the path, for errors. The next link that is
 * opened gets the pods. */
int pods_door_open(struct pods_door *door, struct runtime *runtime, const struct address *address, const char *path,
                   bool reuses, const char *option, struct error *error);

void pods_door_close(struct pods_door *door);

bool pods_door_tell(const struct link *link, uint64_t place, struct pod_figures *pod);

/* Removes the ticket, so that no pod can return. Requires pods_door_close(). */
void pods_door_remove_ticket(const struct pods_door *door);
