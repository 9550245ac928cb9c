/* SPDX-License-Identifier: MIT */
/* Other processes of this machine, from /proc. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* The kernel's letter: R, S run or wait, T stopped by a signal, Z, X ended. 0 if there is no visible process. */
char process_state(int pid);

/* The parent process; 0 if not visible. */
int process_parent(int pid);

/* Called for each process; returns false to stop. */
typedef bool process_visitor(pid_t pid, void *context);

/* Visits the children of a process, zombies included, by thread and age. False if stopped or not visible. */
bool process_visit_children(pid_t parent, process_visitor *visit, void *context);

/* Compares the program's name, of which the kernel stores 15 characters. */
bool process_is_named(int pid, const char *name);

/* Stopped by a signal; different from a stop by a debugger. */
#define PROCESS_STOPPED 'T'

static inline bool process_runs(char state)
{
    return state != 0 && state != 'Z' && state != 'X';
}
