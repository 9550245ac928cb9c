/* SPDX-License-Identifier: MIT */
/* Other processes of this machine, from /proc. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* The state of a process as the kernel's letter for it: R and S run or wait, T was stopped by a signal, Z and X have
 * ended. 0 where there is no such process, or nothing can be seen of it. */
char process_state(int pid);

/* The process that began it, or took it over. 0 where there is none to be seen. */
int process_parent(int pid);

/* Is called for each process. It returns false to end the visit. */
typedef bool process_visitor(pid_t pid, void *context);

/* Calls the visitor for each child of the process, those that have ended but are not waited for among them, in the
 * order in which each of its threads began them. False if the visitor ended the visit, or the process cannot be seen.
 */
bool process_visit_children(pid_t parent, process_visitor *visit, void *context);

/* True where its program has this name, of which the kernel knows 15 characters. */
bool process_is_named(int pid, const char *name);

/* A signal has stopped the process, and none has let it go on. One that a debugger holds has another state. */
#define PROCESS_STOPPED 'T'

/* True if a process of that state has not ended. */
static inline bool process_runs(char state)
{
    return state != 0 && state != 'Z' && state != 'X';
}
