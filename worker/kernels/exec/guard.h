/* SPDX-License-Identifier: MIT */
/* The guard: a process that waits for the end of its worker, and then kills the process group of the task that ran.
 *
 * A child can ask to be killed when its parent ends, but its own children cannot ask that for a parent who is none of
 * theirs: of a worker that is killed they would live on. The guard is one process for each worker that runs commands,
 * begun once. It sleeps until a pipe ends of which the worker has the other end, be it that the worker is killed, and
 * finds the process group in memory that both share. There a task's process itself writes it before it is the program,
 * so that there is no moment without it, and nothing is done for a task but storing two integers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define GUARD_PATH_MAX 96

/* The words of the worker to its guard, in memory that both share. */
struct guard_order {
    volatile pid_t group;                     /* process group that runs; 0: none */
    bool (*volatile clear)(const char *path); /* to be called then, too, until it is true; NULL: nothing */
    char path[GUARD_PATH_MAX];
};

struct guard {
    struct guard_order *order; /* owned */
    pid_t process;
    int end; /* end of the pipe; the guard acts when it is closed */
};

/* `stack` and its size are for the guard's process, which has a copy. -1 with errno and nothing begun where there is no
 * memory, descriptor or process for it. */
int guard_init(struct guard *guard, void *stack, size_t stack_bytes);
/* Has the guard clear away a file as well where the worker is killed, by a function that takes no lock of the process
 * and does not allocate. It is called again and again, for some seconds, until it says that it is done: the system may
 * still be at taking the worker's files away. */
void guard_order_clearing(struct guard *guard, bool (*clear)(const char *path), const char *path);

/* Ends the guard. A group that is left is killed. */
void guard_fini(struct guard *guard);
