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

/* Runs `work` on this thread beside the pool's others, which end when it returns; returns what it does. */
int openmp_pool_run(struct thread_pool *pool, int (*work)(void *context), void *context);
