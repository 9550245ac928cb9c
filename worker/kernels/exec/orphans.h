/* SPDX-License-Identifier: MIT */
/* Orphans: processes that tasks leave behind outside of their process groups.
 *
 * When a task ends, its process group is killed. But a process in a session of its own, such as a daemon, would survive
 * the run as a child of init. So if a descendant of the worker loses its parent, the worker becomes its new parent
 * (PR_SET_CHILD_SUBREAPER). The worker reaps the orphans that end, and kills the remaining ones after its last task. If
 * the worker is killed, its orphans survive. */
#pragma once

#include <stdbool.h>

struct orphans {
    bool are_awaited;
};

/* Begins to adopt orphans. Two kinds of children do not count as orphans: those that exist before the first job, and
 * registered ones (common/os/children.h). Does nothing if the system lacks PR_SET_CHILD_SUBREAPER or /proc. Returns -1
 * if memory runs out. Call orphans_fini() even then. */
int orphans_init(struct orphans *orphans);

void orphans_collect(void);

void orphans_fini(struct orphans *orphans);
