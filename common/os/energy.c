/* SPDX-License-Identifier: MIT */
/* Reading the counters of energy: see energy.h. */
#include "common/os/energy.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define ENERGY_ZONE "intel-rapl:" /* also on processors of AMD */

/* Reads a file of a counter's folder into `text`, without the newline. -1: there is none, or it must not be read. */
static int read_energy_file(const char *folder, const char *counter, const char *file, char *text, int size)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s/%s", folder, counter, file);
    FILE *opened = fopen(path, "re");
    if (opened == NULL)
        return -1;
    const char *line = fgets(text, size, opened);
    fclose(opened);
    if (line == NULL)
        return -1;
    text[strcspn(text, "\n")] = '\0';
    return 0;
}

static int read_microjoules(const char *folder, const char *counter, const char *file, uint64_t *value)
{
    char text[32], rest;
    if (read_energy_file(folder, counter, file, text, sizeof text) < 0)
        return -1;
    return sscanf(text, "%19" SCNu64 "%c", value, &rest) == 1 ? 0 : -1;
}

/* True for the folder of a package, or of a memory, which lies beside its package: intel-rapl:0:1. */
static bool is_counted(const char *folder, const char *counter)
{
    char name[32];
    if (strncmp(counter, ENERGY_ZONE, strlen(ENERGY_ZONE)) != 0 ||
        read_energy_file(folder, counter, "name", name, sizeof name) < 0)
        return false;
    const bool is_part = strchr(counter + strlen(ENERGY_ZONE), ':') != NULL;
    return is_part ? strcmp(name, "dram") == 0 : strncmp(name, "package", strlen("package")) == 0;
}

/* Adds a counter to those that are read. -1 where it cannot be. */
static int add_counter(struct energy_meter *meter, const char *name)
{
    if (meter->count == ENERGY_COUNTERS_MAX || strlen(name) >= sizeof meter->counters->name)
        return -1;
    struct energy_counter *counter = &meter->counters[meter->count];
    if (read_microjoules(meter->folder, name, "energy_uj", &counter->last_uj) < 0 ||
        read_microjoules(meter->folder, name, "max_energy_range_uj", &counter->range_uj) < 0 || counter->range_uj == 0)
        return -1;
    snprintf(counter->name, sizeof counter->name, "%s", name);
    meter->count++;
    return 0;
}

void energy_meter_init(struct energy_meter *meter, const char *folder, uint64_t now_ns)
{
    *meter = (struct energy_meter){.folder = folder, .last_ns = now_ns};
    DIR *listed = opendir(folder);
    bool is_readable = listed != NULL;
    const struct dirent *entry;
    while (is_readable && (entry = readdir(listed)) != NULL)
        if (is_counted(folder, entry->d_name))
            is_readable = add_counter(meter, entry->d_name) == 0;
    if (listed != NULL)
        closedir(listed);
    if (!is_readable)
        meter->count = 0;
}

/* Adds what a counter has risen in so many seconds. -1 where that is not known. */
static int look_at_counter(struct energy_meter *meter, struct energy_counter *counter, double seconds)
{
    uint64_t now_uj;
    if (read_microjoules(meter->folder, counter->name, "energy_uj", &now_uj) < 0 ||
        seconds * ENERGY_WATT_MAX >= (double)counter->range_uj / 1e6)
        return -1;
    const uint64_t before_uj = now_uj >= counter->last_uj ? 0 : counter->range_uj;
    meter->joules += (double)(now_uj + before_uj - counter->last_uj) / 1e6;
    counter->last_uj = now_uj;
    return 0;
}

void energy_meter_look(struct energy_meter *meter, uint64_t now_ns)
{
    const double seconds = (double)(now_ns - meter->last_ns) / 1e9;
    unsigned count = meter->count;
    for (unsigned i = 0; i < count; i++)
        if (look_at_counter(meter, &meter->counters[i], seconds) < 0)
            meter->count = count = 0;
    meter->last_ns = now_ns;
}

bool energy_meter_is_known(const struct energy_meter *meter)
{
    return meter->count > 0;
}
