/* SPDX-License-Identifier: MIT */
/* Orphans: processes that tasks leave behind outside of their process groups.
 *
 * A task's process group ends with it. A process with its own session, such as a daemon, would survive the run as a
 * child of init. So the worker becomes the parent of every orphaned descendant (PR_SET_CHILD_SUBREAPER), reaps those
 * that end, and kills the rest when it runs no more tasks. Orphans of a killed worker are not tracked. */
#pragma once

#include <stdbool.h>

/* One job's part. */
struct orphans {
    bool are_awaited;
};

/* Starts collecting. Children that exist before the first job, and registered ones (common/os/children.h), do not count
 * as orphans. Without the system's support or /proc nothing is collected. -1: out of memory; call orphans_fini() also
 * then. */
int orphans_init(struct orphans *orphans);

/* Reaps orphans that have ended. */
void orphans_collect(void);

/* At the end of the last job kills all orphans and their descendants. No effect if not initialised. */
void orphans_fini(struct orphans *orphans);
