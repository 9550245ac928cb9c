/* SPDX-License-Identifier: MIT */
/* The threads of a pool, by OpenMP: one parallel region for the whole run, whose first thread goes on as the main one.
 * They are pinned as OpenMP is told to (OMP_PROC_BIND, OMP_PLACES), by default to what the rank was bound to. In the
 * region a thread waits by the pool's own means (ring.h), so that no barrier of OpenMP's is met before the end. */
#pragma once

#include "worker/exec/thread_pool.h"

/* True where this build can have more than one thread. */
bool openmp_pool_is_possible(void);

/* Cores that this process may run on. */
unsigned openmp_pool_cores(void);

/* Has this thread, and processes that it begins, run on all places of OpenMP: where threads are pinned OpenMP has bound
 * it to the first one. For a worker whose threads are in a helper. */
void openmp_pool_unbind(void);

/* Runs `work` on this thread beside the pool's others, which end when it returns; returns what it does. */
int openmp_pool_run(struct thread_pool *pool, int (*work)(void *context), void *context);
