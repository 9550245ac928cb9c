/* SPDX-License-Identifier: MIT */
/* The cores of this machine that a process may use. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/* Cores (not hardware threads) that this process may use; limits of processor time are rounded up; at least 1. */
unsigned cores_usable(void);

/* Limit in cores of the control groups listed in the file `groups` (like /proc/self/cgroup) and their ancestors below
 * `root` (like /sys/fs/cgroup). Supports version 2, and the cpu controller of version 1. UINT_MAX: no limit. */
unsigned cores_limit(const char *groups, const char *root);

/* Number of cores that this process could use if it were not bound: those of its job on this machine. At least 1. */
unsigned cores_unbound(void);

/* The CPUs of these cores. */
#define CORES_CPU_SETS 16 /* of 1,024 CPUs each */
void cores_read_unbound(cpu_set_t cpus[CORES_CPU_SETS]);

/* The core of a CPU, as the number of its first hardware thread; `cpu` itself if unknown. */
int cores_of_cpu(int cpu);

/* 1 + the CPU of the caller; 0: unknown. */
unsigned cores_current(void);

/* Binds a process to the CPU `cpu` - 1 and stores its previous affinity. A sleeping process wakes up there. False,
 * without binding, if `cpu` is 0, not allowed, the only allowed CPU, or beyond a cpu_set_t. */
bool cores_bind(pid_t process, unsigned cpu, cpu_set_t *before);

void cores_bind_again(pid_t process, const cpu_set_t *before);

/* Lets this process, or a child that shares its memory, run on all CPUs of cores_unbound(). Async-signal-safe. */
void cores_unbind(void);
