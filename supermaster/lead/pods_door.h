/* SPDX-License-Identifier: MIT */
/* Listens for pods: separate launches of a master with its workers that join a set or a run. It listens at a local
 * socket, and at a port if one is given. A ticket file tells pods how to connect. */
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
    struct streams *streams; /* owned; NULL if nothing listens */
};

/* Listens at the address (if its host is empty, only at a local socket) and writes the ticket to the absolute path
 * `path`; the socket is in the same folder. `reuses`: keeps the key of the existing ticket, so that pods that lost
 * their set can return. `option`: name of the option that gives the path, for errors. The link that is opened next gets
 * the pods. */
int pods_door_open(struct pods_door *door, struct runtime *runtime, const struct address *address, const char *path,
                   bool reuses, const char *option, struct error *error);

void pods_door_close(struct pods_door *door);

bool pods_door_tell(const struct link *link, uint64_t place, struct pod_figures *pod);

/* Removes the ticket if no pod is to return. Requires pods_door_close(). */
void pods_door_remove_ticket(const struct pods_door *door);
