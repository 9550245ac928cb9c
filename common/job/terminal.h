/* SPDX-License-Identifier: MIT */
/* The terminal of whoever launched the run, as far as a rank can know it: under mpirun its own standard error is a
 * pipe, and what mpirun is attached to shows in /proc. */
#pragma once

#include "common/config/job.h"

#include <stdbool.h>

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
    double next_line_s, line_gap_s;
};

void terminal_init(struct terminal *terminal, enum job_progress progress);

/* Shows the line, or not yet: in a log the lines come at growing distances. */
void terminal_show(struct terminal *terminal, const char *line, double elapsed_s);

/* Removes the line that is overwritten, before other text. */
void terminal_clear(struct terminal *terminal);

/* The text that has to precede standard output: the launcher passes the two streams on in any order, so where both
 * end at a terminal and a line is shown there, the text removes it itself. */
const char *terminal_text_start(const struct terminal *terminal);
