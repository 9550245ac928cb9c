/* SPDX-License-Identifier: MIT */
/* Starts a foreign program as a direct child of the worker.
 *
 * Until exec the child uses the worker's memory, as with posix_spawn(), so that the start takes the same time whatever
 * the worker's size. Before exec the child asks to be killed when the worker ends, becomes the leader of a process
 * group (which the guard kills when the worker ends), resets signals, and closes all descriptors except its three. */
#pragma once

#include "worker/kernels/exec/guard.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
    int descriptors[3]; /* become 0, 1 and 2; all above 2 */
    int folder;         /* working directory; -1: the worker's */
    uint64_t memory;    /* memory limit per process in bytes; 0: none */
};

/* Returns the process, or -1 with errno if no path worked. `*process`: a pidfd, or -1. */
pid_t spawn(const struct spawner *spawner, const struct spawn *spawn, int *process);

/* The guard may forget the latest group. Called before waiting for its leader, whose number may be reused. */
static inline void spawn_forget(const struct spawner *spawner)
{
    spawner->guard.order->group = 0;
}
