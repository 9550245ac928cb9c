/* SPDX-License-Identifier: MIT */
/* Threads by OpenMP: see crew.h. The only file that is compiled for it. */
#include "worker/exec/crew.h"

#include <sched.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* More cores than a set of the usual size has. */
#define CORES_MAX 65536

unsigned crew_cores(void)
{
    cpu_set_t *set = CPU_ALLOC(CORES_MAX);
    const size_t size = CPU_ALLOC_SIZE(CORES_MAX);
    int count = set != NULL && sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 1;
    CPU_FREE(set);
    return count > 0 ? (unsigned)count : 1;
}

#ifdef _OPENMP

bool crew_is_possible(void)
{
    return true;
}

/* With fewer threads than asked for (OMP_THREAD_LIMIT) those that are there do it all. */
int crew_run(struct team *team, int (*work)(void *context), void *context)
{
    int result = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads((int)team->config.threads) default(shared)
    if (omp_get_thread_num() == 0) {
        result = work(context);
        team_stop(team);
    } else {
        team_serve(team, (unsigned)omp_get_thread_num());
    }
    return result;
}

#else

bool crew_is_possible(void)
{
    return false;
}

int crew_run(struct team *team, int (*work)(void *context), void *context)
{
    int result = work(context);
    team_stop(team);
    return result;
}

#endif
