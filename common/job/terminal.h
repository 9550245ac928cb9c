/* SPDX-License-Identifier: MIT */
/* The terminal of the user who launched the run, as far as a rank can find it. Under mpirun standard error is a pipe,
 * but /proc shows what mpirun is connected to. */
#pragma once

#include "common/config/job.h"

#include <stdbool.h>
#include <time.h>

enum terminal_mode {
    TERMINAL_NONE,
    TERMINAL_IN_PLACE,
    TERMINAL_LINES,
};

struct terminal {
    enum terminal_mode mode;
    unsigned width;
    bool utf8;
    bool shown;
    bool output_too;
    double next_line_s, line_gap_s, longest_gap_s;
};

void terminal_init(struct terminal *terminal, const struct job *job);

void terminal_init_none(struct terminal *terminal);

void terminal_show(struct terminal *terminal, const char *line);

/* Returns true if the next log line is due, and schedules the line after it. The times between lines are equal. With
 * --progress always and without --log-every they are short at first and grow. */
bool terminal_is_due(struct terminal *terminal, double elapsed_s);

void terminal_log(const char *line);

/* Returns the time in milliseconds between two checks of the progress; 0: the progress is not shown. */
unsigned terminal_look_ms(const struct terminal *terminal);

/* Writes the time as "2026-02-28 17:05:09", or as "17:05:09" if `when` and `today` are on the same day. */
enum { TERMINAL_TIME_MAX = 32 };
const char *terminal_time(time_t when, time_t today, char text[TERMINAL_TIME_MAX]);

void terminal_clear(struct terminal *terminal);

/* Returns the text to print before any other output. The text clears the progress line if the line is shown and
 * standard output is a terminal, too. Otherwise the text is empty. */
const char *terminal_text_start(const struct terminal *terminal);
