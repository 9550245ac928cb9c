/* SPDX-License-Identifier: MIT */
/* A thread that detects lost ranks while its own rank waits in MPI: see guard.c. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

struct watch;

struct guard {
    const struct watch *watch;
    /* The thread calls this function after a watched peer has ended without leaving in order. The function must end the
     * process. */
    void (*lost)(void *context, unsigned rank);
    void *context;
    int set;
    int stop;
    bool is_on;
    pthread_t thread;
};

/* Starts the thread; the peers must be watched already. Returns -1 if files, memory or threads run out. */
int guard_begin(struct guard *guard, const struct watch *watch, void (*lost)(void *context, unsigned rank),
                void *context);
/* Ends the thread if it runs. If the thread is about to end the process, this function does not return. */
void guard_end(struct guard *guard);
