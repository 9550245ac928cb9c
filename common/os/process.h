/* SPDX-License-Identifier: MIT */
/* Other processes of this machine, from /proc. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Returns the kernel's letter: R runs, S waits, T was stopped by a signal, Z or X has ended; 0: the process is not
 * visible. */
char process_state(int pid);

int process_parent(int pid);

typedef bool process_visitor(pid_t pid, void *context);

/* Visits the children of a process, including zombies, ordered by thread and age. Returns false if `visit` has
 * stopped or the process is not visible. */
bool process_visit_children(pid_t parent, process_visitor *visit, void *context);

/* Compares the first 15 characters of the program's name, which the kernel stores. */
bool process_is_named(int pid, const char *name);

/* The state of a process that a signal has stopped; under a debugger the letter is another. */
#define PROCESS_STOPPED 'T'

static inline bool process_runs(char state)
{
    return state != 0 && state != 'Z' && state != 'X';
}
