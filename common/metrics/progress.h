/* SPDX-License-Identifier: MIT */
/* The progress line: how much is done, how fast, how long it will take, who is busy. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRESS_LINE_MAX 512 /* bytes, with the NUL */

struct progress {
    const char *name; /* name of the kernel */
    uint64_t done, total;
    uint64_t resumed; /* iterations of `done` that an earlier run did: they tell nothing about the rate */
    double elapsed_s; /* time since the first assignment; 0 before it */
    unsigned busy, workers;
    unsigned lost; /* ranks that are lost */
    bool draining;
    bool grows; /* `total` is what is known by now: more may come */
};

/* Writes the line, without a newline, into `line`: at most `width` columns; what does not fit is left out, the least
 * important first. Returns `line`. */
const char *progress_line(const struct progress *progress, unsigned width, bool utf8, char line[PROGRESS_LINE_MAX]);

/* Iterations per second; 0 where it cannot be known. */
double progress_rate(const struct progress *progress);

/* Seconds until the end, as the rate promises; below 0 where nobody knows. */
double progress_left_s(const struct progress *progress);

/* Writes the same as a line of a log, without the time and a newline; `end` is the time of day at which the end is
 * expected, NULL where nobody knows. Returns `line`. */
const char *progress_log(const struct progress *progress, const char *end, char line[PROGRESS_LINE_MAX]);
