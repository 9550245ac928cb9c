/* SPDX-License-Identifier: MIT */
/* Starting a process of somebody else's program, as the worker's own child and at once.
 *
 * The child runs on the worker's memory until it becomes the program, as with posix_spawn(), so that starting takes as
 * long whatever the worker holds. Before that it asks the kernel to be killed when the worker ends, becomes the leader
 * of a process group of its own, which the worker's guard kills when the worker ends, takes signals as they are by
 * default, and keeps no descriptor but its three. */
#pragma once

#include "worker/kernels/exec/guard.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct spawner {
    void *stack; /* stack of the child until it is the program; owned */
    size_t stack_bytes;
    struct guard guard;
    sigset_t taken;   /* signals that the worker takes or ignores, and the child does not */
    bool frees_cores; /* the child may run on any core, not only on those that the worker is bound to */
};

/* -1 when memory, descriptors or processes are out; spawner_fini() is due all the same. */
int spawner_init(struct spawner *spawner, bool frees_cores);
void spawner_fini(struct spawner *spawner);

struct spawn {
    const char *const *paths; /* possible paths of the program, tried in this order; ended by NULL */
    size_t *found;            /* place in `paths` of the one that was run last; NULL: not kept */
    char **argv;              /* with a free place before it: a file without a format that is known goes to /bin/sh */
    char *const *environment;
    int descriptors[3]; /* descriptors that become 0, 1 and 2; all above 2 */
    int folder;         /* folder that it begins in; -1: the worker's */
    uint64_t memory;    /* bytes that each of its processes may have of its own; 0: as many as the worker */
};

/* Returns the process, or -1 with errno: why none of the paths could be run. `*process` is a pidfd, -1 where the kernel
 * gives none. */
pid_t spawn(const struct spawner *spawner, const struct spawn *spawn, int *process);

/* The process group that was begun last is over, or killed: the guard has nothing to do. To be called before its leader
 * is waited for: then the number may be another's. */
static inline void spawn_forget(const struct spawner *spawner)
{
    spawner->guard.order->group = 0;
}
