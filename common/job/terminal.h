/* SPDX-License-Identifier: MIT */
/* The terminal of the user who launched the run, as far as a rank can find it: under mpirun standard error is a pipe,
 * and /proc shows what mpirun is connected to. */
#pragma once

#include "common/config/job.h"

#include <stdbool.h>
#include <time.h>

enum terminal_mode {
    TERMINAL_NONE,
    TERMINAL_IN_PLACE, /* a single line, overwritten */
    TERMINAL_LINES,    /* a log: a line from time to time */
};

struct terminal {
    enum terminal_mode mode;
    unsigned width;
    bool utf8;
    bool shown;
    bool output_too; /* standard output is a terminal as well */
    double next_line_s, line_gap_s, longest_gap_s;
};

void terminal_init(struct terminal *terminal, const struct job *job);

/* Without a terminal: no progress, default width. */
void terminal_init_none(struct terminal *terminal);

void terminal_show(struct terminal *terminal, const char *line);

/* True if the next line of the log is due; the gap to the following one begins then. Gaps are equal, or grow with
 * --progress always. */
bool terminal_is_due(struct terminal *terminal, double elapsed_s);

void terminal_log(const char *line);

/* Returns the milliseconds between two updates; 0: none. */
unsigned terminal_look_ms(const struct terminal *terminal);

/* Writes the time as in "2026-02-28 17:05:09", without the date if it equals that of `today`. */
enum { TERMINAL_TIME_MAX = 32 };
const char *terminal_time(time_t when, time_t today, char text[TERMINAL_TIME_MAX]);

/* Removes the overwritten line before other text. */
void terminal_clear(struct terminal *terminal);

/* Returns the text to print before standard output: it clears the line if both streams are the same terminal, in any
 * order of output. */
const char *terminal_text_start(const struct terminal *terminal);
