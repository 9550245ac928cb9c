/* SPDX-License-Identifier: MIT */
/* The cores of this machine that a process may use. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/* Returns how many cores (not hardware threads) this process may use, at least 1. A limit of processor time is rounded
 * up to whole cores. */
unsigned cores_usable(void);

/* Returns a limit in cores: the lowest limit of the control groups in the file `groups` (like /proc/self/cgroup) and of
 * their ancestors below `root` (like /sys/fs/cgroup). Returns UINT_MAX if there is no limit. Supports control groups of
 * version 2, and the cpu controller of version 1. */
unsigned cores_limit(const char *groups, const char *root);

/* Returns how many cores this process could use if it were not bound to cores: all cores of its job on this machine, at
 * least 1. */
unsigned cores_unbound(void);

#define CORES_CPU_SETS 16
void cores_read_unbound(cpu_set_t cpus[CORES_CPU_SETS]);

/* Returns the number of the first hardware thread of the core to which a CPU belongs. So all CPUs of a core have the
 * same result. Returns `cpu` if the core is unknown. */
int cores_of_cpu(int cpu);

/* Returns the number of the CPU on which the caller runs, plus 1; 0: unknown. */
unsigned cores_current(void);

/* Binds a process to CPU number `cpu` - 1, and stores the previous affinity of the process in `*before`. A sleeping
 * process wakes up on that CPU. Returns false and binds nothing in four cases: `cpu` is 0; the CPU is not allowed; it
 * is the only allowed CPU; its number does not fit in a cpu_set_t. */
bool cores_bind(pid_t process, unsigned cpu, cpu_set_t *before);

void cores_bind_again(pid_t process, const cpu_set_t *before);

/* Lets this process, or a child that shares its memory, run on all CPUs of cores_unbound(). Async-signal-safe. */
void cores_unbind(void);
