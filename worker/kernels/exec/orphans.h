/* SPDX-License-Identifier: MIT */
/* Orphans: what tasks leave behind outside of their process groups.
 *
 * A task that ends takes its process group with it. A process that has begun a session of its own, as a daemon does, is
 * in no group that the worker knows, and would outlive the run as a child of init. So the worker has the kernel make it
 * the parent of every descendant that loses its own (PR_SET_CHILD_SUBREAPER), collects those that end, and kills the
 * rest when it runs no more tasks. Of a worker that is killed nobody knows them any more. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct orphans {
    pid_t *own; /* children that the worker had before, which are none; owned */
    size_t own_count, own_room;
    unsigned found; /* orphans in the look at hand */
    bool is_reaper, was_reaper;
};

/* From here on orphans come to this process; all children that it has are its own. -1 when memory is out; where the
 * kernel has no such thing, or /proc is not there, there are no orphans. */
int orphans_init(struct orphans *orphans);

/* Collects those that have ended. To be called while no task is running that somebody waits for. */
void orphans_collect(const struct orphans *orphans);

/* Kills all that there are, with their descendants. */
void orphans_fini(struct orphans *orphans);
