/* SPDX-License-Identifier: MIT */
/* Starts a foreign program as a direct child of the worker.
 *
 * Until exec the child uses the worker's memory, as with posix_spawn(), so that the start takes the same time whatever
 * the worker's size. Before exec the child asks to be killed when the worker ends, becomes the leader of a process
 * group (which the guard kills when the worker ends), resets signals, and closes all descriptors except its three. */
#pragma once

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The guard: a process that waits for the end of its worker and then kills the process group of the running task.
 *
 * A child can ask to be killed with its parent, but grandchildren would survive a killed worker. So each worker that
 * runs commands starts one guard. It sleeps until a pipe from the worker closes, and finds the process group in shared
 * memory. The task's process writes it there before it executes the program, so there is no gap, and a task costs only
 * two stores. */
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

/* If the worker is killed, the guard also calls `clear`, which must not lock or allocate, repeatedly for some seconds
 * until it returns true: the worker's files may still be in use. */
void guard_order_clearing(struct guard *guard, bool (*clear)(const char *path), const char *path);

struct spawner {
    void *stack; /* stack of the child before exec; owned */
    size_t stack_bytes;
    struct guard guard;
    sigset_t taken;   /* signals to reset in the child */
    bool frees_cores; /* the child may use any core, not only those the worker is bound to */
};

/* -1: out of memory, descriptors or processes; call spawner_fini() also then. */
int spawner_init(struct spawner *spawner, bool frees_cores);
void spawner_fini(struct spawner *spawner);

struct spawn {
    const char *const *paths; /* paths to try in order, ends with NULL */
    size_t *found;            /* index in `paths` of the latest success; may be NULL */
    char **argv;              /* with a free entry before it, for running a script with /bin/sh */
    char *const *environment;
    int descriptors[3];     /* become 0, 1 and 2; all above 2 */
    const cpu_set_t *cores; /* CORES_CPU_SETS sets of CPUs that it is bound to; NULL: it is not bound */
    int folder;             /* working directory; -1: the worker's */
    uint64_t memory;        /* memory limit per process in bytes; 0: none */
};

/* Returns the process, or -1 with errno if no path worked. `*process`: a pidfd, or -1. */
pid_t spawn(const struct spawner *spawner, const struct spawn *spawn, int *process);

/* The guard may forget the latest group. Called before waiting for its leader, whose number may be reused. */
static inline void spawn_forget(const struct spawner *spawner)
{
    spawner->guard.order->group = 0;
}
