/* SPDX-License-Identifier: MIT */
/* The metrics of a run or a set as text, in the two formats that Prometheus reads. Names, types and units follow its
 * conventions, and are a promise: docs/CONTROL.md has them. Pure. */
#pragma once

#include "common/control/job_json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Jobs of which metrics are told: a set runs no more at once. */
#define METRICS_JOBS_MAX 64

enum metrics_format {
    METRICS_PROMETHEUS, /* the text format 0.0.4, also of node-exporter's textfile collector */
    METRICS_OPEN,       /* OpenMetrics 1.0 */
};

struct metrics {
    const struct control_session *session;
    struct metrics_counts counts;
    unsigned masters, workers;      /* ranks at the start */
    const struct control_job *jobs; /* [job_count] that run; of a run also once it is over */
    size_t job_count;
};

/* The media type of a format. */
const char *metrics_type(enum metrics_format format);

/* The format that a client wants who accepts these media types; NULL: it does not say. */
enum metrics_format metrics_wanted(const char *accept);

/* The text. The caller frees it; NULL when memory is out. */
char *metrics_text(const struct metrics *metrics, enum metrics_format format);
