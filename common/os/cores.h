/* SPDX-License-Identifier: MIT */
/* The cores of this machine that a process may use. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/* Returns the number of cores (not hardware threads) that this process may use, at least 1. A limit of processor
 * time is rounded up to whole cores. */
unsigned cores_usable(void);

/* Returns the limit in cores of the control groups that the file `groups` (like /proc/self/cgroup) lists, and of their
 * ancestors below `root` (like /sys/fs/cgroup); UINT_MAX if there is no limit. Supports control groups of version 2,
 * and the cpu controller of version 1. */
unsigned cores_limit(const char *groups, const char *root);

/* Returns the number of cores that this process could use if it were not bound: all cores of its job on this
 * machine. At least 1. */
unsigned cores_unbound(void);

#define CORES_CPU_SETS 16
void cores_read_unbound(cpu_set_t cpus[CORES_CPU_SETS]);

/* Returns the core of a CPU, identified by its first hardware thread, or `cpu` if the core is unknown. */
int cores_of_cpu(int cpu);

/* Returns 1 + the number of the CPU on which the caller runs; 0: the CPU is unknown. */
unsigned cores_current(void);

/* Binds a process to the CPU `cpu` - 1, and stores its previous affinity. If the process sleeps, it wakes up on that
 * CPU. Returns false, and binds nothing, if `cpu` is 0, or if that CPU is not allowed, is the only allowed CPU, or does
 * not fit in a cpu_set_t. */
bool cores_bind(pid_t process, unsigned cpu, cpu_set_t *before);

void cores_bind_again(pid_t process, const cpu_set_t *before);

/* Lets this process, or a child that shares its memory, run on all CPUs of cores_unbound(). Async-signal-safe. */
void cores_unbind(void);
