/* SPDX-License-Identifier: MIT */
/* Threads of a pool by OpenMP: one parallel region for the whole run, whose first thread continues as the main thread.
 * OMP_PROC_BIND and OMP_PLACES pin the threads, by default to the cores of the rank. In the region threads wait in
 * ring_wait(), so the threads reach OpenMP's barrier only at the end. */
#pragma once

#include "worker/exec/thread_pool.h"

bool openmp_pool_is_possible(void);

unsigned openmp_pool_cores(void);

/* Lets this thread, which OpenMP has bound to its first place, and processes that the thread starts run on all places.
 * For a worker whose threads are in a helper. */
void openmp_pool_unbind(void);

int openmp_pool_run(struct thread_pool *pool, int (*work)(void *context), void *context);
