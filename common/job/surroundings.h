/* SPDX-License-Identifier: MIT */
/* What a process has around it that a job of a set brings with it: a folder and a umask. A rank is in them only while
 * it opens, makes or finishes files of the job. */
#pragma once

#include "common/util/error.h"

#include <sys/types.h>

struct surroundings {
    const char *folder; /* borrowed; NULL: the process has the job's surroundings all the time */
    mode_t umask;
};

/* Those of the process, to come back to. */
struct surroundings_before {
    int folder; /* descriptor; -1: nothing was entered */
    mode_t umask;
};

/* -1 with one line, and nothing changed. */
int surroundings_enter(const struct surroundings *surroundings, struct surroundings_before *before,
                       struct error *error);

/* Comes back; nothing where nothing was entered. */
void surroundings_leave(struct surroundings_before *before);
