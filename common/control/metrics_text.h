/* SPDX-License-Identifier: MIT */
/* The metrics of a run or set in the two text formats of Prometheus. Names, types and units follow its conventions and
 * are stable: docs/CONTROL.md lists them. Pure. */
#pragma once

#include "common/control/job_json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of jobs that can run in a set. */
#define METRICS_JOBS_MAX 64

enum metrics_format {
    METRICS_PROMETHEUS,
    METRICS_OPEN,
};

struct metrics {
    const struct control_session *session;
    struct metrics_counts counts;
    unsigned masters, workers;
    const struct control_job *jobs; /* [job_count] the running jobs of a set, or the job of a run in any state */
    size_t job_count;
};

const char *metrics_type(enum metrics_format format);

enum metrics_format metrics_wanted(const char *accept);

char *metrics_text(const struct metrics *metrics, enum metrics_format format);
