/* SPDX-License-Identifier: MIT */
/* Usable cores, from the process's affinity and the machine's description in /sys: see cores.h. */
#include "common/os/cores.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

/* The lowest hardware thread of the core that `cpu` belongs to; itself where that is not known. */
static int first_sibling(int cpu)
{
    char path[96];
    int first = cpu;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return cpu;
    if (fscanf(file, "%d", &first) != 1)
        first = cpu;
    fclose(file);
    return first;
}

/* At least 1. */
static unsigned count_cores(const cpu_set_t cpus[CORES_CPU_SETS])
{
    const size_t bytes = CORES_CPU_SETS * sizeof *cpus;
    unsigned cores = 0;
    for (int cpu = 0; cpu < CORES_CPU_SETS * CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET_S(cpu, bytes, cpus))
            continue;
        int first = first_sibling(cpu);
        cores += first == cpu || !CPU_ISSET_S(first, bytes, cpus);
    }
    return cores > 0 ? cores : 1;
}

unsigned cores_usable(void)
{
    cpu_set_t cpus[CORES_CPU_SETS];
    return sched_getaffinity(0, sizeof cpus, cpus) < 0 ? 1 : count_cores(cpus);
}

#define FOUR(word) word, word, word, word

/* All CPUs: the kernel takes those that there are and that the job may use. Nothing of it is on the stack, as a
 * child of spawn.c has one that the sanitizers do not know of. */
static const unsigned long every_cpu[] = {FOUR(FOUR(FOUR(FOUR(~0ul))))};

_Static_assert(sizeof every_cpu == CORES_CPU_SETS * sizeof(cpu_set_t), "as many as sets");

void cores_unbind(void)
{
    sched_setaffinity(0, sizeof every_cpu, (const cpu_set_t *)every_cpu);
}

void cores_read_unbound(cpu_set_t cpus[CORES_CPU_SETS])
{
    const size_t bytes = CORES_CPU_SETS * sizeof *cpus;
    cpu_set_t bound[CORES_CPU_SETS];
    memset(cpus, 0, bytes);
    if (sched_getaffinity(0, sizeof bound, bound) < 0)
        return;
    cores_unbind();
    if (sched_getaffinity(0, bytes, cpus) < 0)
        memset(cpus, 0, bytes);
    sched_setaffinity(0, sizeof bound, bound);
}

unsigned cores_unbound(void)
{
    cpu_set_t cpus[CORES_CPU_SETS];
    cores_read_unbound(cpus);
    return count_cores(cpus);
}

unsigned cores_current(void)
{
    return (unsigned)(sched_getcpu() + 1);
}

bool cores_bind(pid_t process, unsigned cpu, cpu_set_t *before)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu - 1, &one); /* outside of the set: it stays empty */
    return sched_getaffinity(process, sizeof *before, before) == 0 && CPU_COUNT(before) > 1 && CPU_COUNT(&one) == 1 &&
           CPU_ISSET(cpu - 1, before) && sched_setaffinity(process, sizeof one, &one) == 0;
}

void cores_bind_again(pid_t process, const cpu_set_t *before)
{
    sched_setaffinity(process, sizeof *before, before);
}
