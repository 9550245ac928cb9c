/* SPDX-License-Identifier: MIT */
/* Cores that one task has to itself, among all tasks of all runs on this machine.
 *
 * A core in use is a name that a socket of its user is bound to (an abstract name: no file, and free again when the
 * process ends in any way). So no core is given to two tasks, whatever runs share the machine. A task for which there
 * is no core is not bound, and the system finds its place. */
#pragma once

#include "common/os/cores.h"

#include <stdbool.h>
#include <stdint.h>

struct own_cores {
    cpu_set_t allowed[CORES_CPU_SETS]; /* CPUs that tasks may use */
    cpu_set_t cores[CORES_CPU_SETS];   /* their cores: cores_of_cpu() of each */
    cpu_set_t taken[CORES_CPU_SETS];   /* CPUs of the cores that are taken */
    unsigned count;                    /* of cores */
    int *core_of, cpus;                /* core of each CPU below `cpus`; owned */
    int *held;                         /* sockets of the cores that are taken; owned */
    unsigned held_count;
};

/* `any_core`: also cores that this process is not bound to. Without memory no core can be taken. */
void own_cores_init(struct own_cores *cores, bool any_core);
void own_cores_fini(struct own_cores *cores);

/* Takes `wanted` cores, more than 0, the first free ones but for `skip`, which are looked at last. False, and none is
 * taken, if fewer are free. */
bool own_cores_take(struct own_cores *cores, uint64_t wanted, unsigned skip);

void own_cores_release(struct own_cores *cores);

/* The CPUs of the cores that are taken; NULL: none are. */
static inline const cpu_set_t *own_cores_cpus(const struct own_cores *cores)
{
    return cores->held_count > 0 ? cores->taken : NULL;
}
