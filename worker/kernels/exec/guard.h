/* SPDX-License-Identifier: MIT */
/* The guard: a process that waits for the end of its worker and then kills the process group of the running task.
 *
 * A child can ask to be killed with its parent, but grandchildren would survive a killed worker. So each worker that
 * runs commands starts one guard. It sleeps until a pipe from the worker closes, and finds the process group in shared
 * memory. The task's process writes it there before it executes the program, so there is no gap, and a task costs only
 * two stores. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define GUARD_PATH_MAX 96

/* Shared memory between the worker and its guard. */
struct guard_order {
    volatile pid_t group;                     /* running process group; 0: none */
    bool (*volatile clear)(const char *path); /* called as well, until it returns true; may be NULL */
    char path[GUARD_PATH_MAX];
};

struct guard {
    struct guard_order *order; /* owned */
    pid_t process;
    int end; /* end of the pipe; closing it triggers the guard */
};

/* `stack` is for the guard's process, which copies it. -1 with errno; nothing is started then. */
int guard_init(struct guard *guard, void *stack, size_t stack_bytes);
/* If the worker is killed, the guard also calls `clear`, which must not lock or allocate, repeatedly for some seconds
 * until it returns true: the worker's files may still be in use. */
void guard_order_clearing(struct guard *guard, bool (*clear)(const char *path), const char *path);

/* Ends the guard, and kills a remaining group. */
void guard_fini(struct guard *guard);
