/* SPDX-License-Identifier: MIT */
/* Threads by OpenMP: see openmp_pool.h. This is the only file compiled with OpenMP. */
#include "worker/exec/openmp_pool.h"

#include <sched.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#define CORES_MAX 65536

unsigned openmp_pool_cores(void)
{
    cpu_set_t *set = CPU_ALLOC(CORES_MAX);
    const size_t size = CPU_ALLOC_SIZE(CORES_MAX);
    int count = set != NULL && sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 1;
    CPU_FREE(set);
    return count > 0 ? (unsigned)count : 1;
}

#ifdef _OPENMP

bool openmp_pool_is_possible(void)
{
    return true;
}

void openmp_pool_unbind(void)
{
    cpu_set_t *set = CPU_ALLOC(CORES_MAX);
    int *ids = malloc(CORES_MAX * sizeof *ids);
    const size_t size = CPU_ALLOC_SIZE(CORES_MAX);
    if (set != NULL && ids != NULL) {
        CPU_ZERO_S(size, set);
        for (int place = 0; place < omp_get_num_places(); place++) {
            const int count = omp_get_place_num_procs(place);
            if (count <= CORES_MAX)
                omp_get_place_proc_ids(place, ids);
            for (int i = 0; i < count && count <= CORES_MAX; i++)
                CPU_SET_S((size_t)ids[i], size, set);
        }
        if (CPU_COUNT_S(size, set) > 0)
            sched_setaffinity(0, size, set);
    }
    free(ids);
    CPU_FREE(set);
}

/* OpenMP may provide fewer threads than requested (OMP_THREAD_LIMIT). Then these threads do all the work. */
int openmp_pool_run(struct thread_pool *pool, int (*work)(void *context), void *context)
{
    int result = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads((int)pool->config.threads) default(shared)
    if (omp_get_thread_num() == 0) {
        result = work(context);
        thread_pool_stop(pool);
    } else {
        thread_pool_serve(pool, (unsigned)omp_get_thread_num());
    }
    return result;
}

#else

bool openmp_pool_is_possible(void)
{
    return false;
}

void openmp_pool_unbind(void)
{
}

int openmp_pool_run(struct thread_pool *pool, int (*work)(void *context), void *context)
{
    int result = work(context);
    thread_pool_stop(pool);
    return result;
}

#endif
