/* SPDX-License-Identifier: MIT */
/* Threads of a pool by OpenMP: one parallel region for the whole run, whose first thread continues as the main thread.
 * OMP_PROC_BIND and OMP_PLACES pin the threads, by default to the cores of the rank. In the region threads wait by
 * means of ring.h, so OpenMP's barrier is reached only at the end. */
#pragma once

#include "worker/exec/thread_pool.h"

/* True if this build was compiled with OpenMP. */
bool openmp_pool_is_possible(void);

unsigned openmp_pool_cores(void);

/* Lets this thread, and processes that it starts, run on all places of OpenMP, which has bound the thread to the first
 * one. For a worker whose threads are in a helper. */
void openmp_pool_unbind(void);

/* Runs `work` on this thread beside the pool's other threads, which end when it returns; returns its result. */
int openmp_pool_run(struct thread_pool *pool, int (*work)(void *context), void *context);
