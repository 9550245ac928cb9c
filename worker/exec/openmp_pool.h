/* SPDX-License-Identifier: MIT */
/* Threads of a pool by OpenMP: one parallel region for the whole run, whose first thread continues as the main thread.
 * OMP_PROC_BIND and OMP_PLACES pin the threads, by default to the cores of the rank. Threads without work wait in
 * ring_wait(), inside the region. So they reach OpenMP's barrier only at the end. */
#pragma once

#include "worker/exec/thread_pool.h"

bool openmp_pool_is_possible(void);

unsigned openmp_pool_cores(void);

/* OpenMP has bound this thread to its first place. Lets the thread run on all places; this also holds for processes
 * that the thread starts later. For a worker whose threads are in a helper. */
void openmp_pool_unbind(void);

int openmp_pool_run(struct thread_pool *pool, int (*work)(void *context), void *context);
