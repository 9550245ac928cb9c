/* SPDX-License-Identifier: MIT */
/* Cores of tasks: see own_cores.h. */
#include "worker/kernels/exec/own_cores.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CPUS_MAX  (CORES_CPU_SETS * CPU_SETSIZE)
#define SET_BYTES (CORES_CPU_SETS * sizeof(cpu_set_t))

void own_cores_init(struct own_cores *cores, bool any_core)
{
    memset(cores, 0, sizeof *cores);
    if (any_core)
        cores_read_unbound(cores->allowed);
    else if (sched_getaffinity(0, SET_BYTES, cores->allowed) < 0)
        memset(cores->allowed, 0, SET_BYTES);
    for (int cpu = 0; cpu < CPUS_MAX; cpu++)
        if (CPU_ISSET_S(cpu, SET_BYTES, cores->allowed))
            cores->cpus = cpu + 1;
    cores->core_of = calloc((size_t)cores->cpus + 1, sizeof *cores->core_of);
    for (int cpu = 0; cores->core_of != NULL && cpu < cores->cpus; cpu++) {
        if (!CPU_ISSET_S(cpu, SET_BYTES, cores->allowed))
            continue;
        cores->core_of[cpu] = cores_of_cpu(cpu);
        CPU_SET_S(cores->core_of[cpu], SET_BYTES, cores->cores);
    }
    cores->count = (unsigned)CPU_COUNT_S(SET_BYTES, cores->cores);
    cores->held = calloc(cores->count + 1, sizeof *cores->held);
}

void own_cores_fini(struct own_cores *cores)
{
    own_cores_release(cores);
    free(cores->held);
    free(cores->core_of);
    memset(cores, 0, sizeof *cores);
}

static bool claim_core(int socket, int core)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "hdss-core-%d", core);
    const size_t bytes = offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length;
    return bind(socket, (const struct sockaddr *)&name, (socklen_t)bytes) == 0;
}

static void add_cpus(struct own_cores *cores, int core)
{
    for (int cpu = core; cpu < cores->cpus; cpu++)
        if (CPU_ISSET_S(cpu, SET_BYTES, cores->allowed) && cores->core_of[cpu] == core)
            CPU_SET_S(cpu, SET_BYTES, cores->taken);
}

static void take_some(struct own_cores *cores, uint64_t wanted, unsigned first, unsigned end)
{
    int own = -1;
    unsigned number = 0;
    for (int core = 0; core < CPUS_MAX && number < end && cores->held_count < wanted; core++) {
        if (!CPU_ISSET_S(core, SET_BYTES, cores->cores) || number++ < first)
            continue;
        if (own < 0)
            own = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (own < 0 || !claim_core(own, core))
            continue;
        cores->held[cores->held_count++] = own;
        own = -1;
        add_cpus(cores, core);
    }
    if (own >= 0)
        close(own);
}

bool own_cores_take(struct own_cores *cores, uint64_t wanted, unsigned skip)
{
    own_cores_release(cores);
    if (cores->held == NULL || wanted > cores->count)
        return false;
    take_some(cores, wanted, skip, cores->count);
    take_some(cores, wanted, 0, skip);
    if (cores->held_count == wanted)
        return true;
    own_cores_release(cores);
    return false;
}

void own_cores_release(struct own_cores *cores)
{
    while (cores->held_count > 0)
        close(cores->held[--cores->held_count]);
    memset(cores->taken, 0, SET_BYTES);
}
