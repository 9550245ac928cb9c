/* SPDX-License-Identifier: MIT */
/* What a process has around it that a job of a set brings with it: a folder, a umask and an environment. A rank is in
 * them only while it opens, makes or finishes something for the job. */
#pragma once

#include "common/util/error.h"
#include "proto/announcement.h"

#include <fenv.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* The supermaster draws a number for its run or set, and puts it among the variables of each job that it announces, by
 * this name: ranks of other launches know by it that they belong together. Tasks do not inherit it. */
#define SESSION_VARIABLE "HDSS_SESSION"

struct surroundings {
    int folder; /* descriptor; owned; -1: the process has the job's surroundings all the time */
    mode_t umask;
    char *const *environment; /* ended by NULL; borrowed */
};

/* The surroundings of the process, to come back to; with what a kernel that runs here may have left otherwise, and
 * other jobs would compute with. */
struct surroundings_before {
    int folder; /* descriptor; -1: nothing was entered */
    mode_t umask;
    char **environment;
    fenv_t arithmetic; /* the rounding mode above all */
    sigset_t signals;  /* those that are blocked */
};

/* Those of a job without any of its own. */
#define SURROUNDINGS_NONE ((struct surroundings){.folder = -1})

/* -1 with one line where the folder cannot be entered; then there are none. */
int surroundings_open(struct surroundings *surroundings, const char *folder, mode_t umask, char *const *environment,
                      struct error *error);

/* Opens those of a job of a set. A rank of a pod that has no such folder stays in its own where the job's results are
 * not written by pods (--results here). -1 with one line. */
int surroundings_open_announced(struct surroundings *surroundings, const struct announcement *announced, bool is_of_pod,
                                struct error *error);

void surroundings_close(struct surroundings *surroundings);

/* Enters them; nothing where there are none. Not in two threads at once. -1 with one line, and nothing is entered. */
int surroundings_enter(const struct surroundings *surroundings, struct surroundings_before *before,
                       struct error *error);
void surroundings_leave(struct surroundings_before *before);
