/* SPDX-License-Identifier: MIT */
/* The first and the last line of a run's log, where standard error is no terminal: when the run began, with what, and
 * when and how it ended. The lines between come from the rank that leads. */
#pragma once

#include "deploy/cli/compose.h"
#include "deploy/cli/launch.h"

#include <stdbool.h>
#include <stdint.h>

struct run_log {
    bool is_kept;     /* a log is kept at all */
    bool is_begun;    /* the first line is written */
    int64_t begun_ms; /* by launch_clock_ms() */
    int64_t due_ms;   /* length of a run from which on its end is told, though its beginning was not */
};

/* In a batch job, and where a log is asked for, the first line is written; a short run elsewhere has none. */
void run_log_begin(struct run_log *log, const struct launch_plan *launch_plan, const struct launch *how);
void run_log_end(const struct run_log *log, int status);
