/* SPDX-License-Identifier: MIT */
/* How a launch that is over has ended, out of what was seen of it: the launcher may return any status, the ranks may
 * have said theirs, and somebody may have asked them to stop. Pure. */
#pragma once

#include "deploy/cli/launch.h"
#include "deploy/cli/launcher_watch.h"

#include <stdbool.h>
#include <stdint.h>

/* What has become of a launch so far. */
struct launch_course {
    const struct launch *how;           /* borrowed */
    const struct launcher_watch *watch; /* borrowed; all zero where the ranks do not report */
    unsigned asked;                     /* number of times that the user asked to stop */
    bool is_told_drain; /* somebody else has sent the ranks a signal: not the launcher that was ended here */
    bool not_begun;     /* it was ended because it had not begun in time, though it was asked to stop */
    bool late;          /* its time was over */
    bool has_said;      /* it, or a rank, has printed something on standard error */
    bool outlived;      /* the supermaster has said how the run went after its launcher was gone */
    int64_t end_ms;     /* when the launcher is killed, as it was asked to end; 0: it was not */
    int status;         /* the launcher's, as waitpid() gives it */
};

struct launch_verdict {
    int status;     /* enum exit_status */
    char told[300]; /* a line to be told at once; empty: none */
    char lost[100]; /* why no rank has said how the run went; empty: one has, or the reason was told */
};

/* True if somebody asked the ranks to stop. */
bool launch_was_asked(const struct launch_course *course);

struct launch_verdict launch_judge(const struct launch_course *course);
