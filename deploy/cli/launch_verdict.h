/* SPDX-License-Identifier: MIT */
/* Decides how a finished launch ended. Its inputs: the launcher's status, which may be anything, the report of the
 * ranks, and requests to stop. Pure. */
#pragma once

#include "deploy/cli/launch.h"
#include "deploy/cli/launcher_watch.h"

#include <stdbool.h>
#include <stdint.h>

/* What happened in a launch. */
struct launch_course {
    const struct launch *how;           /* borrowed */
    const struct launcher_watch *watch; /* borrowed; all zero if the ranks do not report */
    unsigned asked;                     /* requests of the user to stop */
    bool is_told_drain;                 /* somebody else sent the ranks a signal */
    bool not_begun;                     /* it was ended because it did not begin in time after a request to stop */
    bool late;                          /* its time limit was reached */
    bool has_said;                      /* it, or a rank, printed something on standard error */
    bool outlived;                      /* the supermaster reported after its launcher had ended */
    int64_t end_ms;                     /* when the launcher is killed after a request to end; 0: no request */
    int status;                         /* of the launcher, as of waitpid() */
};

struct launch_verdict {
    int status;     /* enum exit_status */
    char told[300]; /* line to print at once; empty: none */
    char lost[100]; /* why no rank has reported; empty: one has, or `told` says it */
};

/* True if somebody asked the ranks to stop. */
bool launch_was_asked(const struct launch_course *course);

struct launch_verdict launch_judge(const struct launch_course *course);
