/* SPDX-License-Identifier: MIT */
/* If standard error is no terminal: the first and the last line of a run's log. The first line says when the run began
 * and with which ranks, the last one how it ended. The leading rank writes the lines in between. */
#pragma once

#include "deploy/cli/compose.h"
#include "deploy/cli/launch.h"

#include <stdbool.h>
#include <stdint.h>

struct run_log {
    bool is_kept;
    bool is_begun;
    int64_t begun_ms;
    int64_t due_ms; /* a run that takes at least this long gets a last line, even if the log has no first line */
};

/* Writes the first line in a batch job, or if the user asked for a log. Otherwise the log has no first line, and
 * run_log_end() writes the last line only if the run took long. */
void run_log_begin(struct run_log *log, const struct launch_plan *launch_plan, const struct launch *how);
void run_log_end(const struct run_log *log, int status);
