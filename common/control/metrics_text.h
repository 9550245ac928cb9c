/* SPDX-License-Identifier: MIT */
/* The metrics of a run or set in the two text formats of Prometheus. Names, types and units follow its conventions and
 * are stable: docs/CONTROL.md lists them. Pure. */
#pragma once

#include "common/control/job_json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most jobs that can run in a set. */
#define METRICS_JOBS_MAX 64

enum metrics_format {
    METRICS_PROMETHEUS, /* text format 0.0.4, also for node-exporter's textfile collector */
    METRICS_OPEN,
};

struct metrics {
    const struct control_session *session;
    struct metrics_counts counts;
    unsigned masters, workers;
    const struct control_job *jobs; /* [job_count] running jobs; a run's job always */
    size_t job_count;
};

const char *metrics_type(enum metrics_format format);

/* Chooses the format from an Accept header, which may be NULL. */
enum metrics_format metrics_wanted(const char *accept);

char *metrics_text(const struct metrics *metrics, enum metrics_format format);
