/* SPDX-License-Identifier: MIT */
/* Usable cores, from affinity, control groups and /sys: see cores.h. */
#include "common/os/cores.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cores_of_cpu(int cpu)
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

static unsigned count_cores(const cpu_set_t cpus[CORES_CPU_SETS])
{
    const size_t bytes = CORES_CPU_SETS * sizeof *cpus;
    unsigned cores = 0;
    for (int cpu = 0; cpu < CORES_CPU_SETS * CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET_S(cpu, bytes, cpus))
            continue;
        int first = cores_of_cpu(cpu);
        cores += first == cpu || !CPU_ISSET_S(first, bytes, cpus);
    }
    return cores > 0 ? cores : 1;
}

static unsigned cores_for(const char *quota, const char *period)
{
    const long long time_us = strtoll(quota, NULL, 10), period_us = strtoll(period, NULL, 10);
    if (time_us <= 0 || period_us <= 0) /* without a limit the time is "max" (version 2) or -1 (version 1) */
        return UINT_MAX;
    const long long cores = (time_us - 1) / period_us + 1;
    return cores < UINT_MAX ? (unsigned)cores : UINT_MAX;
}

static bool read_words(const char *folder, const char *name, char first[32], char second[32])
{
    char path[PATH_MAX];
    FILE *file = snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path ? fopen(path, "re") : NULL;
    if (file == NULL)
        return false;
    second[0] = '\0';
    const int words = fscanf(file, "%31s %31s", first, second);
    fclose(file);
    return words > 0;
}

static unsigned limit_of_group(const char *folder)
{
    char quota[32], period[32], unused[32];
    if (read_words(folder, "cpu.max", quota, period))
        return cores_for(quota, period);
    if (read_words(folder, "cpu.cfs_quota_us", quota, unused) &&
        read_words(folder, "cpu.cfs_period_us", period, unused))
        return cores_for(quota, period);
    return UINT_MAX;
}

/* Returns the lowest limit of `group` and its ancestors. In a container, `group` may be a path of the host that does
 * not exist below `root`. Then only the limit of `root` itself counts. */
static unsigned limit_of_groups(const char *root, const char *group)
{
    char folder[PATH_MAX];
    const size_t root_length = strlen(root);
    unsigned least = UINT_MAX;
    if (snprintf(folder, sizeof folder, "%s%s", root, strcmp(group, "/") == 0 ? "" : group) >= (int)sizeof folder)
        return limit_of_group(root);
    for (;; *strrchr(folder, '/') = '\0') {
        const unsigned limit = limit_of_group(folder);
        least = limit < least ? limit : least;
        if (strlen(folder) <= root_length)
            return least;
    }
}

static bool has_cpu(const char *controllers)
{
    char list[256];
    snprintf(list, sizeof list, ",%s,", controllers);
    return strstr(list, ",cpu,") != NULL;
}

unsigned cores_limit(const char *groups, const char *root)
{
    char line[PATH_MAX], place[PATH_MAX];
    unsigned least = UINT_MAX;
    FILE *file = fopen(groups, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *rest = line;
        strsep(&rest, ":");
        const char *controllers = strsep(&rest, ":");
        if (rest == NULL || (controllers[0] != '\0' && !has_cpu(controllers)))
            continue;
        rest[strcspn(rest, "\n")] = '\0';
        const int length = controllers[0] == '\0' ? snprintf(place, sizeof place, "%s", root)
                                                  : snprintf(place, sizeof place, "%s/%s", root, controllers);
        const unsigned limit = length < (int)sizeof place ? limit_of_groups(place, rest) : UINT_MAX;
        least = limit < least ? limit : least;
    }
    if (file != NULL)
        fclose(file);
    return least;
}

static unsigned within_limit(unsigned cores)
{
    static unsigned limit;
    if (limit == 0)
        limit = cores_limit("/proc/self/cgroup", "/sys/fs/cgroup");
    return cores < limit ? cores : limit;
}

unsigned cores_usable(void)
{
    cpu_set_t cpus[CORES_CPU_SETS];
    return sched_getaffinity(0, sizeof cpus, cpus) < 0 ? 1 : within_limit(count_cores(cpus));
}

#define FOUR(word) word, word, word, word

/* Selects all CPUs; the kernel ignores the CPUs that are not allowed. The array is static, because the child of spawn.c
 * runs on a stack that the sanitizers do not know. */
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
    return within_limit(count_cores(cpus));
}

unsigned cores_current(void)
{
    return (unsigned)(sched_getcpu() + 1);
}

bool cores_bind(pid_t process, unsigned cpu, cpu_set_t *before)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu - 1, &one); /* CPU_SET() does nothing if the number of the CPU does not fit in a cpu_set_t */
    return sched_getaffinity(process, sizeof *before, before) == 0 && CPU_COUNT(before) > 1 && CPU_COUNT(&one) == 1 &&
           CPU_ISSET(cpu - 1, before) && sched_setaffinity(process, sizeof one, &one) == 0;
}

void cores_bind_again(pid_t process, const cpu_set_t *before)
{
    sched_setaffinity(process, sizeof *before, before);
}
