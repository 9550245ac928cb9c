/* SPDX-License-Identifier: MIT */
/* Other processes of this machine, from /proc. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Returns the letter by which the kernel shows the state: R runs, S waits, T was stopped by a signal, Z or X has ended.
 * Returns 0 if the process is not visible. */
char process_state(int pid);

int process_parent(int pid);

typedef bool process_visitor(pid_t pid, void *context);

/* Calls `visit` for the children of a process, including zombies. The children of one thread are in the order of their
 * age. If `visit` returns false, stops and returns false. Also returns false if the process is not visible. */
bool process_visit_children(pid_t parent, process_visitor *visit, void *context);

/* Returns whether the process runs a program of this name. Compares only the first 15 characters, because the kernel
 * stores no more. */
bool process_is_named(int pid, const char *name);

/* The letter of a process that a signal has stopped. A process that a debugger has stopped has another letter. */
#define PROCESS_STOPPED 'T'

static inline bool process_runs(char state)
{
    return state != 0 && state != 'Z' && state != 'X';
}
