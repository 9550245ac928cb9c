/* SPDX-License-Identifier: MIT */
/* A thread that detects losses while its rank is in MPI: see guard.c. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

struct watch;

struct guard {
    const struct watch *watch;
    /* Called in the thread after a watched peer has ended, unless it left in order. Must end the process. */
    void (*lost)(void *context, unsigned rank);
    void *context;
    int set;
    int stop;
    bool is_on;
    pthread_t thread;
};

/* Starts the thread; the peers must already be watched. -1: out of files, memory or threads. */
int guard_begin(struct guard *guard, const struct watch *watch, void (*lost)(void *context, unsigned rank),
                void *context);
/* Ends the thread if it runs. Does not return if the thread is about to end the process. */
void guard_end(struct guard *guard);
