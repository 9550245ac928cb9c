/* SPDX-License-Identifier: MIT */
/* Cores that belong to one task alone, among all tasks of all runs on this machine.
 *
 * To take a core, a worker binds a socket to a name that contains the core's number. The name is abstract: there is no
 * file, and the system frees the name when the process ends in any way. So no two tasks get the same core, even if they
 * belong to different runs on the machine. If a task gets no core, it is not bound, and the system chooses its
 * cores. */
#pragma once

#include "common/os/cores.h"

#include <stdbool.h>
#include <stdint.h>

struct own_cores {
    cpu_set_t allowed[CORES_CPU_SETS];
    cpu_set_t cores[CORES_CPU_SETS];
    cpu_set_t taken[CORES_CPU_SETS];
    unsigned count;
    int *core_of, cpus; /* core of each CPU below `cpus`; owned */
    int *held;
    unsigned held_count;
};

/* `any_core`: this process may also take cores to which it is not bound. If memory runs out, no core can be taken. */
void own_cores_init(struct own_cores *cores, bool any_core);
void own_cores_fini(struct own_cores *cores);

/* Takes `wanted` > 0 free cores. First tries the cores from number `skip` on, then those before it. If fewer than
 * `wanted` cores are free, takes none and returns false. */
bool own_cores_take(struct own_cores *cores, uint64_t wanted, unsigned skip);

void own_cores_release(struct own_cores *cores);

static inline const cpu_set_t *own_cores_cpus(const struct own_cores *cores)
{
    return cores->held_count > 0 ? cores->taken : NULL;
}
