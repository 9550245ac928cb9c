/* SPDX-License-Identifier: MIT */
/* Starts a foreign program as a direct child of the worker.
 *
 * Until exec the child uses the worker's memory, as with posix_spawn(). So the time to start does not depend on the
 * worker's size. Before exec the child does four things. It asks to be killed when the worker ends. It becomes the
 * leader of a process group; the guard kills this group when the worker ends. It resets signals. It closes all
 * descriptors except its three. */
#pragma once

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The guard: a process that waits for the end of its worker, and then kills the process group of the running task.
 *
 * A child can ask to be killed when its parent ends. But the processes that the child has started would survive. So
 * each worker that runs commands starts one guard. The guard sleeps until a pipe from the worker closes, and finds the
 * process group in shared memory. The task's process writes its group there before it executes the program, so the
 * guard misses no task. */
#define GUARD_PATH_MAX 96

struct guard_order {
    volatile pid_t group;
    bool (*volatile clear)(const char *path); /* called with `path` until it returns true; may be NULL */
    char path[GUARD_PATH_MAX];
};

struct guard {
    struct guard_order *order;
    pid_t process;
    int end;
};

/* Makes the guard also call `clear` if the worker is killed. The guard repeats the call until it returns true or some
 * seconds have passed, because the worker's files may still be in use. `clear` must not take locks or allocate
 * memory. */
void guard_order_clearing(struct guard *guard, bool (*clear)(const char *path), const char *path);

struct spawner {
    void *stack;
    size_t stack_bytes;
    struct guard guard;
    sigset_t taken;
    bool frees_cores;
};

/* Returns -1 if memory, descriptors or processes run out. Call spawner_fini() even then. */
int spawner_init(struct spawner *spawner, bool frees_cores);
void spawner_fini(struct spawner *spawner);

struct spawn {
    const char *const *paths;
    size_t *found; /* index of the path that worked last; may be NULL */
    /* The entry before the first one must be free. It is used if /bin/sh must run the program as a script. */
    char **argv;
    char *const *environment;
    int descriptors[3];     /* become the descriptors 0, 1 and 2 of the program; all must be above 2 */
    const cpu_set_t *cores; /* CORES_CPU_SETS sets of CPUs to which the program is bound; NULL: it is not bound */
    int folder;
    uint64_t memory;
};

/* Returns the process ID, or -1 with errno if no path has worked. Sets `*process` to a pidfd or -1. */
pid_t spawn(const struct spawner *spawner, const struct spawn *spawn, int *process);

/* Makes the guard forget the process group. Call it before the leader of the group is reaped: after that, another
 * process may get the group's ID. */
static inline void spawn_forget(const struct spawner *spawner)
{
    spawner->guard.order->group = 0;
}
