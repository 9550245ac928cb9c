/* SPDX-License-Identifier: MIT */
/* Decides how a launch has ended. Uses the status of the launcher, the report of the ranks, and the requests to stop.
 * The status of the launcher alone proves nothing. Pure. */
#pragma once

#include "deploy/cli/launch.h"
#include "deploy/cli/launcher_watch.h"

#include <stdbool.h>
#include <stdint.h>

struct launch_course {
    const struct launch *how;
    const struct launcher_watch *watch; /* borrowed; all zero if the ranks do not report */
    unsigned asked;
    bool is_told_drain; /* another process has sent the ranks a signal */
    bool not_begun;
    bool late;
    bool has_said;
    bool outlived;  /* the supermaster has reported after its launcher had ended */
    int64_t end_ms; /* when the launcher is killed because it has not ended its ranks; 0: it was not told to end them */
    int status;
};

struct launch_verdict {
    int status;
    char told[300];
    char lost[100]; /* why no rank has reported; empty if one has, or if `told` says why */
};

bool launch_was_asked(const struct launch_course *course);

struct launch_verdict launch_judge(const struct launch_course *course);
