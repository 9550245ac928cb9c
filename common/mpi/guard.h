/* SPDX-License-Identifier: MIT */
/* A thread that finds losses while its rank is in MPI: see guard.c. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

struct watch;

struct guard {
    const struct watch *watch; /* borrowed */
    /* Called in the thread when a watched peer has ended and not left in order; ends the process. */
    void (*lost)(void *context, unsigned rank);
    void *context;
    int set;  /* an epoll set: readable when somebody has ended, or the thread is to end */
    int stop; /* a file that becomes readable then */
    bool is_on;
    pthread_t thread;
};

/* Begins, once the peers are watched. -1 when files, memory or threads are out. */
int guard_begin(struct guard *guard, const struct watch *watch, void (*lost)(void *context, unsigned rank),
                void *context);
/* Ends the thread, if there is one. Does not return where it is about to end the process. */
void guard_end(struct guard *guard);
