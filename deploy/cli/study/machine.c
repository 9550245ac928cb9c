/* SPDX-License-Identifier: MIT */
/* Facts about the machine: see machine.h. */
#include "deploy/cli/study/machine.h"
#include "common/os/cores.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void find_processor(char *text, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(text, size, "unknown processor");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || value == NULL)
            continue;
        value += 1 + strspn(value + 1, " ");
        snprintf(text, size, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    if (file != NULL)
        fclose(file);
}

void machine_look(struct machine *machine)
{
    struct utsname name;
    double pages = (double)sysconf(_SC_PHYS_PAGES), bytes = (double)sysconf(_SC_PAGESIZE);
    find_processor(machine->processor, sizeof machine->processor);
    snprintf(machine->cores, sizeof machine->cores, "%u", cores_usable());
    snprintf(machine->memory, sizeof machine->memory, "%.1f", pages * bytes / (1 << 30));
    if (uname(&name) < 0)
        memset(&name, 0, sizeof name);
    snprintf(machine->system, sizeof machine->system, "%.60s %.60s %.30s", name.sysname, name.release, name.machine);
    snprintf(machine->host, sizeof machine->host, "%.79s", name.nodename);
}

void machine_write(const struct machine *machine, struct csv *csv, size_t row)
{
    csv_set(csv, row, "version", HDSS_VERSION);
    csv_set(csv, row, "commit", hdss_commit);
    csv_set(csv, row, "machine.host", machine->host);
    csv_set(csv, row, "machine.processor", machine->processor);
    csv_set(csv, row, "machine.cores", machine->cores);
    csv_set(csv, row, "machine.memory_gib", machine->memory);
    csv_set(csv, row, "machine.system", machine->system);
}
