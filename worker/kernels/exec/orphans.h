/* SPDX-License-Identifier: MIT */
/* Orphans: what tasks leave behind outside of their process groups.
 *
 * A task that ends takes its process group with it. A process that has begun a session of its own, as a daemon does, is
 * in no group that the worker knows, and would outlive the run as a child of init. So the worker has the kernel make it
 * the parent of every descendant that loses its own (PR_SET_CHILD_SUBREAPER), collects those that end, and kills the
 * rest when it runs no more tasks. Of a worker that is killed nobody knows them any more. */
#pragma once

#include <stdbool.h>

/* What one job has of it. */
struct orphans {
    bool are_awaited;
};

/* From here on orphans come to this process; all children that it has before the first job, and those that it has noted
 * (common/os/children.h), are its own. -1 when memory is out; where the kernel has no such thing, or /proc is not
 * there, there are no orphans. To be ended also then. */
int orphans_init(struct orphans *orphans);

/* Collects those that have ended. */
void orphans_collect(void);

/* At the end of the last job kills all that there are, with their descendants. Nothing where they have not begun. */
void orphans_fini(struct orphans *orphans);
