/* SPDX-License-Identifier: MIT */
/* The terminal of whoever launched the run, as far as a rank can know it: under mpirun its own standard error is a
 * pipe, and what mpirun is attached to shows in /proc. */
#pragma once

#include "common/config/job.h"

#include <stdbool.h>
#include <time.h>

enum terminal_mode {
    TERMINAL_NONE,     /* no progress is shown */
    TERMINAL_IN_PLACE, /* a single line that is overwritten */
    TERMINAL_LINES,    /* a log: a line now and then */
};

struct terminal {
    enum terminal_mode mode;
    unsigned width;
    bool utf8;
    bool shown;      /* a line stands there, not closed */
    bool output_too; /* standard output ends at a terminal as well */
    double next_line_s, line_gap_s, longest_gap_s;
};

void terminal_init(struct terminal *terminal, const struct job *job);

/* There is none: nothing is shown, and text is of the usual width. */
void terminal_init_none(struct terminal *terminal);

/* Shows the line that is overwritten. */
void terminal_show(struct terminal *terminal, const char *line);

/* True where the next line of the log is due, and then not before the next gap is over. The gaps are equal, or grow
 * where a log is wanted always. */
bool terminal_is_due(struct terminal *terminal, double elapsed_s);

/* Writes the line with date and time before it. */
void terminal_log(const char *line);

/* Milliseconds between two looks at what is to be shown; 0: nothing is. */
unsigned terminal_look_ms(const struct terminal *terminal);

/* "2026-02-28 17:05:09"; a day of the year's own is left out where `today` has the same. */
enum { TERMINAL_TIME_MAX = 32 };
const char *terminal_time(time_t when, time_t today, char text[TERMINAL_TIME_MAX]);

/* Removes the line that is overwritten, before other text. */
void terminal_clear(struct terminal *terminal);

/* The text that has to precede standard output: the launcher passes the two streams on in any order, so where both
 * end at a terminal and a line is shown there, the text removes it itself. */
const char *terminal_text_start(const struct terminal *terminal);
