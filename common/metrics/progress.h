/* SPDX-License-Identifier: MIT */
/* The progress line: amount done, rate, remaining time, busy workers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRESS_LINE_MAX 512

struct progress {
    const char *name;
    uint64_t done, total;
    uint64_t resumed; /* iterations in `done` that an earlier run has computed; they do not count for the rate */
    double elapsed_s; /* time since the first chunk was assigned; 0: no chunk was assigned yet */
    unsigned busy, workers;
    unsigned lost;
    bool draining;
    bool grows;
};

/* Writes the line, without a newline, in at most `width` columns; less important parts are omitted first. Returns
 * `line`. */
const char *progress_line(const struct progress *progress, unsigned width, bool utf8, char line[PROGRESS_LINE_MAX]);

double progress_rate(const struct progress *progress);

/* Returns how many seconds the run will still take at its mean rate; negative: unknown. */
double progress_left_s(const struct progress *progress);

/* Writes the progress as a log line. `end` is the expected time of day at which the run ends; NULL: unknown. Returns
 * `line`. */
const char *progress_log(const struct progress *progress, const char *end, char line[PROGRESS_LINE_MAX]);
