/* SPDX-License-Identifier: MIT */
/* Decides how a launch has ended, from the launcher's status, which may be anything, the report of the ranks, and
 * what was asked of them. Pure. */
#pragma once

#include "deploy/cli/launch.h"
#include "deploy/cli/launcher_watch.h"

#include <stdbool.h>
#include <stdint.h>

struct launch_course {
    const struct launch *how;
    const struct launcher_watch *watch; /* all zero if the ranks do not report; borrowed */
    unsigned asked;
    bool is_told_drain; /* others have sent the ranks a signal */
    bool not_begun;     /* it was ended because it did not begin in time after it was asked to stop */
    bool late;
    bool has_said;  /* the launcher or a rank has written to standard error */
    bool outlived;  /* the supermaster has reported after its launcher had ended */
    int64_t end_ms; /* after a request to end: when the launcher is killed; 0: no request */
    int status;     /* of the launcher, as from waitpid() */
};

struct launch_verdict {
    int status;
    char told[300];
    char lost[100]; /* why no rank has reported; empty: one has, or `told` says why */
};

bool launch_was_asked(const struct launch_course *course);

struct launch_verdict launch_judge(const struct launch_course *course);
