/* SPDX-License-Identifier: MIT */
/* The threads of a team, by OpenMP: one parallel region for the whole run, whose first thread goes on as the main one.
 * They are pinned as OpenMP is told to (OMP_PROC_BIND, OMP_PLACES), by default to what the rank was bound to. In the
 * region a thread waits by the team's own means (ring.h), so that no barrier of OpenMP's is met before the end. */
#pragma once

#include "worker/exec/team.h"

/* True where this build can have more than one thread. */
bool crew_is_possible(void);

/* Cores that this process may run on. */
unsigned crew_cores(void);

/* Runs `work` on this thread beside the team's others, which end when it returns; returns what it does. */
int crew_run(struct team *team, int (*work)(void *context), void *context);
