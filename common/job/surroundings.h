/* SPDX-License-Identifier: MIT */
/* The surroundings of a job of a set: folder, umask and environment. A rank enters them only while it opens, makes or
 * finishes something for the job. */
#pragma once

#include "common/util/error.h"
#include "proto/announcement.h"

#include <fenv.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Environment variable with a random number of the run or set. The supermaster adds the variable to the environment
 * of each announced job. Workers of different launches on a node compare the number to know whether they belong to
 * the same run or set. Tasks do not inherit the variable. */
#define SESSION_VARIABLE "HDSS_SESSION"

struct surroundings {
    int folder; /* descriptor of the job's folder; owned; -1: the process has the surroundings of the job already */
    mode_t umask;
    char *const *environment; /* ends with NULL; borrowed */
};

/* What surroundings_leave() restores. It includes the floating-point environment and the signal mask, because a
 * kernel may change them. */
struct surroundings_before {
    int folder; /* descriptor of the folder to return to; -1: no other folder was entered */
    mode_t umask;
    char **environment;
    fenv_t arithmetic;
    sigset_t signals;
};

#define SURROUNDINGS_NONE ((struct surroundings){.folder = -1})

int surroundings_open(struct surroundings *surroundings, const char *folder, mode_t umask, char *const *environment,
                      struct error *error);

/* Opens the surroundings of a job of a set. With --results here, a rank of a pod stays in its current folder if
 * it cannot enter the folder of the job. */
int surroundings_open_announced(struct surroundings *surroundings, const struct announcement *announced, bool is_of_pod,
                                struct error *error);

void surroundings_close(struct surroundings *surroundings);

/* Enters the surroundings, if any. Only one thread may do this at a time, because surroundings belong to the
 * process. On failure nothing is changed. */
int surroundings_enter(const struct surroundings *surroundings, struct surroundings_before *before,
                       struct error *error);
void surroundings_leave(struct surroundings_before *before);
