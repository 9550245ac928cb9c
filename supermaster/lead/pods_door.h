/* SPDX-License-Identifier: MIT */
/* The door by which pods join a set or a run: launches of their own, each a master with its workers. The door listens
 * for them at a socket of this machine, and at a port where one is asked for, and its ticket tells them how. */
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
    char ticket[PATH_MAX];   /* the file by which pods join */
    struct streams *streams; /* NULL: none may join; owned */
};

/* Opens the door at the address, which has no host where pods are to come from this machine alone, and writes the
 * ticket to `path`, an absolute path, with the socket beside it. `reuses`: with the key of the ticket that is there, by
 * which pods that have lost their set come back. `option` names what says the path, for errors. The link that is opened
 * next has the pods. -1 with one line. */
int pods_door_open(struct pods_door *door, struct runtime *runtime, const struct address *address, const char *path,
                   bool reuses, const char *option, struct error *error);

/* Stops listening; pods that are still there are cut off. Nothing where the door is not open. */
void pods_door_close(struct pods_door *door);

/* Tells of the pod at that place, from 0, of those that are there. False where there is none, or no link. */
bool pods_door_tell(const struct link *link, uint64_t place, struct pod_figures *pod);

/* Removes the ticket, once the door is closed and nobody is to come back. */
void pods_door_remove_ticket(const struct pods_door *door);
