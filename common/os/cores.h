/* SPDX-License-Identifier: MIT */
/* The cores of this machine that we may use. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/* The number of cores (not of hardware threads) that this process may use. If its control groups limit its processor
 * time, to 1.5 cores for example, no more cores count: 2. At least 1. */
unsigned cores_usable(void);

/* The limit, in cores, of the control groups that the file `groups` names (as /proc/self/cgroup does) and of the groups
 * above them, which are folders of `root` (as of /sys/fs/cgroup). Version 2, and the controller cpu of version 1.
 * UINT_MAX: there is no limit. */
unsigned cores_limit(const char *groups, const char *root);

/* The cores that this process could use if it were not bound to some of them: those that the job has of this machine.
 * At least 1. */
unsigned cores_unbound(void);

/* The CPUs of these cores, as many as are known of. */
#define CORES_CPU_SETS 16 /* of 1,024 CPUs each */
void cores_read_unbound(cpu_set_t cpus[CORES_CPU_SETS]);

/* The CPU on which the caller runs, and 1; 0: not known. */
unsigned cores_current(void);

/* Binds a process that may run on several CPUs to one of them, `cpu` - 1, and fills in what it was bound to before. A
 * process that sleeps wakes there. False, and nothing is bound: `cpu` is 0, or the process may not run there, or
 * nowhere else, or the machine has more CPUs than a cpu_set_t. */
bool cores_bind(pid_t process, unsigned cpu, cpu_set_t *before);

/* Binds the process to what it was bound to before. */
void cores_bind_again(pid_t process, const cpu_set_t *before);

/* Lets this process, or a child that shares its memory, run on all of those. Calls nothing that could take a lock. */
void cores_unbind(void);
