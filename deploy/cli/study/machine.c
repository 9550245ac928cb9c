/* SPDX-License-Identifier: MIT */
/* Facts about the machine: see machine.h. */
#include "deploy/cli/study/machine.h"
#include "common/os/clock.h"
#include "common/os/cores.h"
#include "common/util/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Quanta of work, each of some ten microseconds. */
enum { QUANTA = 500, QUANTUM_STEPS = 4000 };

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

double machine_noise_of(const uint64_t *quanta_ns, unsigned count)
{
    double sum_ns = 0, least_ns = INFINITY;
    for (unsigned i = 0; i < count; i++) {
        sum_ns += (double)quanta_ns[i];
        least_ns = fmin(least_ns, (double)quanta_ns[i]);
    }
    return sum_ns > 0 ? 100 * (1 - count * least_ns / sum_ns) : 0;
}

/* A quantum of work: steps of a generator of random numbers, none of which can begin before the one before it. */
static uint64_t work_for_a_quantum(uint64_t state)
{
    for (unsigned i = 0; i < QUANTUM_STEPS; i++)
        state = random_at(state, i);
    return state;
}

static void find_noise(char *text, size_t size)
{
    static volatile uint64_t kept; /* the work must not be left out */
    uint64_t quanta_ns[QUANTA], before_ns = clock_ns(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < QUANTA; i++) {
        kept = work_for_a_quantum(kept);
        const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
        quanta_ns[i] = now_ns - before_ns;
        before_ns = now_ns;
    }
    snprintf(text, size, "%.2f", machine_noise_of(quanta_ns, QUANTA));
}

static void find_governor(char *text, size_t size)
{
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "re");
    text[0] = '\0';
    if (file == NULL)
        return;
    if (fgets(text, (int)size, file) != NULL)
        text[strcspn(text, "\n")] = '\0';
    fclose(file);
}

void machine_look_at_noise(struct machine *machine)
{
    double load;
    machine->load[0] = '\0';
    if (getloadavg(&load, 1) == 1)
        snprintf(machine->load, sizeof machine->load, "%.2f", load);
    find_governor(machine->governor, sizeof machine->governor);
    find_noise(machine->noise, sizeof machine->noise);
}

void machine_forget_noise(struct machine *machine)
{
    machine->load[0] = machine->governor[0] = machine->noise[0] = '\0';
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
    csv_set(csv, row, "machine.load_1min", machine->load);
    csv_set(csv, row, "machine.governor", machine->governor);
    csv_set(csv, row, "machine.noise_percent", machine->noise);
}
