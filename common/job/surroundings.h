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

/* Environment variable with the number of the run or set, which the supermaster draws and adds to each announced job.
 * Ranks of other launches compare it to know that they belong together. Tasks do not inherit it. */
#define SESSION_VARIABLE "HDSS_SESSION"

struct surroundings {
    int folder; /* descriptor; owned; -1: the process is always in the job's surroundings */
    mode_t umask;
    char *const *environment; /* ends with NULL; borrowed */
};

/* The surroundings of the process, to which it returns. A kernel may change the arithmetic and signal settings
 * meanwhile. */
struct surroundings_before {
    int folder; /* descriptor; -1: nothing was entered */
    mode_t umask;
    char **environment;
    fenv_t arithmetic;
    sigset_t signals;
};

#define SURROUNDINGS_NONE ((struct surroundings){.folder = -1})

int surroundings_open(struct surroundings *surroundings, const char *folder, mode_t umask, char *const *environment,
                      struct error *error);

/* Opens the surroundings of a job of a set. With --results here, a rank of a pod stays in the current folder if it
 * cannot enter that of the job. */
int surroundings_open_announced(struct surroundings *surroundings, const struct announcement *announced, bool is_of_pod,
                                struct error *error);

void surroundings_close(struct surroundings *surroundings);

/* Enters the surroundings, if any; not in two threads at once. On failure nothing is entered. */
int surroundings_enter(const struct surroundings *surroundings, struct surroundings_before *before,
                       struct error *error);
void surroundings_leave(struct surroundings_before *before);
