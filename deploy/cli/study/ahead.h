/* SPDX-License-Identifier: MIT */
/* Simulated runs of a study that are made before their turn. A simulation takes one core and disturbs no other, so that
 * as many go on side by side as there are cores; what came of each is taken in the order of the study.
 *
 * Each is made in a process of its own, which says by a pipe how it went. A signal that comes to the study is passed on
 * to all of them. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <sys/types.h>

#define AHEAD_MAX 8

struct ahead_result {
    int status; /* exit status of the run */
    bool late;  /* the time that it may take was over */
    bool asked; /* a signal ended it */
};

struct ahead {
    pid_t pid[AHEAD_MAX]; /* of the process of each place; 0: there is none */
    int pipe[AHEAD_MAX];
};

/* How many cores this process may use, at most AHEAD_MAX. */
unsigned ahead_cores(void);

/* Has `run` make a run and fill in its result, in a process that has place `place`, which must be free. -1 with one
 * line. */
int ahead_begin(struct ahead *ahead, unsigned place, void (*run)(void *context, struct ahead_result *result),
                void *context, struct error *error);

/* True if the place is taken. */
static inline bool ahead_has(const struct ahead *ahead, unsigned place)
{
    return ahead->pid[place] != 0;
}

/* Waits for the run of the place, and frees it. `is_asked`: a signal came to this process, which all runs are to be
 * told. A process that ends without a word has failed. */
void ahead_take(struct ahead *ahead, unsigned place, bool (*is_asked)(void), struct ahead_result *result);

/* Ends the runs that still go on, and waits for their ends. */
void ahead_fini(struct ahead *ahead);
