/* SPDX-License-Identifier: MIT */
/* Writes lines of several writers. Each line is written as a whole, by one write, and never behind a progress line.
 *
 * What the ranks write to standard error comes through the launcher in pieces of any length. A line is written when it
 * is complete. If a line stays incomplete for some time, the caller writes it by whole_lines_flush().
 *
 * A progress line begins with a carriage return and ends with WHOLE_LINES_CLEAR. It is written at once. The next
 * progress line replaces it, and other lines are written only after it was cleared. On a terminal the program's name
 * can be coloured. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define WHOLE_LINES_CLEAR "\033[K"
#define WHOLE_LINES_MAX   65536u /* longer lines are written in pieces */

struct whole_lines {
    char *line; /* [line_length] beginning of a line; owned */
    size_t line_length;
    char place[1024]; /* [place_length] beginning of a progress line, with its carriage return */
    size_t place_length;
    bool is_in_place;
    char shown[1024]; /* [shown_length] the last progress line, if it was not cleared */
    size_t shown_length;
    bool is_coloured;
    void (*write)(void *context, const char *bytes, size_t count);
    void *context;
};

int whole_lines_init(struct whole_lines *lines, bool is_coloured,
                     void (*write)(void *context, const char *bytes, size_t count), void *context);
void whole_lines_fini(struct whole_lines *lines);
void whole_lines_take(struct whole_lines *lines, const char *bytes, size_t count);

bool whole_lines_hold(const struct whole_lines *lines);

void whole_lines_redraw(struct whole_lines *lines);

/* Writes the lines that are held back. `ends`: also clears the progress line. */
void whole_lines_flush(struct whole_lines *lines, bool ends);
