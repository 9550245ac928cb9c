/* SPDX-License-Identifier: MIT */
/* Resources of this node: see resources.h. Several sources may limit an amount: the system, the control groups of this
 * process, and Slurm. The smallest limit counts. */
#include "worker/kernels/exec/resources.h"

#include "common/os/cores.h"
#include "common/os/own_environment.h"
#include "common/util/number.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTROL_GROUPS "/sys/fs/cgroup"

/* Reads this process's environment. The job's environment comes from elsewhere, and says nothing about this node. */
static uint64_t number_of(const char *name)
{
    const char *text = own_environment_get(name);
    uint64_t number;
    return text != NULL && number_parse_u64(text, &number) == 0 ? number : 0;
}

static void lower(uint64_t *bound, uint64_t to)
{
    if (to > 0 && to < *bound)
        *bound = to;
}

static int take_stated(const char *name, enum need need, uint64_t *amount, struct error *error)
{
    const char *text = own_environment_get(name);
    struct error inner;
    if (text == NULL)
        return 0;
    if (need_parse(need, text, strlen(text), amount, &inner) == 0)
        return 1;
    return error_set(error, "%s: %s", name, inner.text);
}

static uint64_t memory_available(void)
{
    char line[200];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return kib > 0 ? (uint64_t)kib << 10 : UINT64_MAX >> 1;
}

static uint64_t read_limit(const char *folder, const char *name)
{
    char path[PATH_MAX];
    unsigned long long limit = 0;
    FILE *file = snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path ? fopen(path, "re") : NULL;
    /* "max" is no number: there is no limit. */
    if (file != NULL && fscanf(file, "%llu", &limit) != 1)
        limit = 0;
    if (file != NULL)
        fclose(file);
    return limit;
}

static void lower_by_group(uint64_t *memory, const char *root, const char *group, const char *name)
{
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%s%s", root, group) >= (int)sizeof folder)
        return;
    while (strlen(folder) >= strlen(root)) {
        lower(memory, read_limit(folder, name));
        *strrchr(folder, '/') = '\0';
    }
}

static void lower_by_groups(uint64_t *memory)
{
    char line[PATH_MAX];
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *group++ = '\0';
        if (strcmp(controllers, ":") == 0)
            lower_by_group(memory, CONTROL_GROUPS, group, "memory.max");
        else if (strcmp(controllers, ":memory") == 0)
            lower_by_group(memory, CONTROL_GROUPS "/memory", group, "memory.limit_in_bytes");
    }
    if (file != NULL)
        fclose(file);
}

static uint64_t find_memory(void)
{
    uint64_t memory = memory_available();
    lower_by_groups(&memory);
    lower(&memory, number_of("SLURM_MEM_PER_NODE") << 20);
    lower(&memory, (number_of("SLURM_MEM_PER_CPU") * number_of("SLURM_CPUS_ON_NODE")) << 20);
    return memory;
}

static uint64_t find_cores(bool any_core)
{
    uint64_t cores = any_core ? cores_unbound() : cores_usable();
    lower(&cores, number_of("SLURM_CPUS_ON_NODE"));
    return cores;
}

static int add_gpu(struct resources *resources, const char *name, size_t length, struct error *error)
{
    uint64_t *count = &resources->has.amount[NEED_GPUS];
    if (*count == RESOURCES_GPUS_MAX)
        return 0;
    resources->gpu[*count] = strndup(name, length);
    if (resources->gpu[*count] == NULL)
        return error_set(error, "out of memory for the names of GPUs");
    ++*count;
    return 0;
}

static int add_numbered_gpus(struct resources *resources, uint64_t first, uint64_t last, struct error *error)
{
    char name[24];
    for (uint64_t i = first; i <= last && i < first + RESOURCES_GPUS_MAX; i++) {
        int length = snprintf(name, sizeof name, "%" PRIu64, i);
        if (add_gpu(resources, name, (size_t)length, error) < 0)
            return -1;
    }
    return 0;
}

/* Parses "0,2", "0-3" or "GPU-8932f937". As in CUDA, -1 ends the list. */
static int add_listed_gpus(struct resources *resources, const char *list, struct error *error)
{
    for (size_t length; *list != '\0'; list += length + (list[length] == ',')) {
        uint64_t first, last;
        int used = 0;
        length = strcspn(list, ",");
        if (strncmp(list, "-1", 2) == 0 || strncmp(list, "NoDevFiles", 10) == 0)
            return 0;
        bool is_range = sscanf(list, "%" SCNu64 "-%" SCNu64 "%n", &first, &last, &used) == 2 && (size_t)used == length;
        int result = is_range     ? add_numbered_gpus(resources, first, last, error)
                     : length > 0 ? add_gpu(resources, list, length, error)
                                  : 0;
        if (result < 0)
            return -1;
    }
    return 0;
}

static int add_gpus_of_system(struct resources *resources, struct error *error)
{
    bool is_there[RESOURCES_GPUS_MAX] = {false};
    const struct dirent *entry;
    DIR *devices = opendir("/dev");
    while (devices != NULL && (entry = readdir(devices)) != NULL) {
        unsigned number;
        int used = 0;
        if (sscanf(entry->d_name, "nvidia%u%n", &number, &used) == 1 && entry->d_name[used] == '\0' &&
            number < RESOURCES_GPUS_MAX)
            is_there[number] = true;
    }
    if (devices != NULL)
        closedir(devices);
    for (unsigned i = 0; i < RESOURCES_GPUS_MAX; i++)
        if (is_there[i] && add_numbered_gpus(resources, i, i, error) < 0)
            return -1;
    return 0;
}

static int find_gpus(struct resources *resources, struct error *error)
{
    static const char *const lists[] = {RESOURCES_GPUS, "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                        "SLURM_JOB_GPUS"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (own_environment_get(lists[i]) != NULL)
            return add_listed_gpus(resources, own_environment_get(lists[i]), error);
    const char *count = own_environment_get("SLURM_GPUS_ON_NODE");
    if (count == NULL)
        return add_gpus_of_system(resources, error);
    return number_of("SLURM_GPUS_ON_NODE") > 0
               ? add_numbered_gpus(resources, 0, number_of("SLURM_GPUS_ON_NODE") - 1, error)
               : 0;
}

const char *resources_name_gpus(const struct resources *resources, uint64_t gpus, const char *name, char *setting,
                                size_t size)
{
    int length = snprintf(setting, size, "%s=", name);
    for (unsigned i = 0; i < resources->has.amount[NEED_GPUS] && length < (int)size; i++)
        if ((gpus >> i & 1) != 0)
            length += snprintf(setting + length, size - (size_t)length, "%s%s", setting[length - 1] == '=' ? "" : ",",
                               resources->gpu[i]);
    return setting;
}

int resources_init(struct resources *resources, bool any_core, struct error *error)
{
    *resources = (struct resources){0};
    uint64_t *has = resources->has.amount;
    int cores = take_stated(RESOURCES_CORES, NEED_CORES, &has[NEED_CORES], error);
    int memory = cores < 0 ? -1 : take_stated(RESOURCES_MEMORY, NEED_MEMORY, &has[NEED_MEMORY], error);
    if (memory < 0)
        return -1;
    if (cores == 0)
        has[NEED_CORES] = find_cores(any_core);
    if (memory == 0)
        has[NEED_MEMORY] = find_memory();
    if (find_gpus(resources, error) == 0)
        return 0;
    resources_fini(resources);
    return -1;
}

void resources_fini(struct resources *resources)
{
    for (unsigned i = 0; i < RESOURCES_GPUS_MAX; i++)
        free(resources->gpu[i]);
    *resources = (struct resources){0};
}
