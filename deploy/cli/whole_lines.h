/* SPDX-License-Identifier: MIT */
/* Lines of several writers, each written whole and by one write, and none behind a progress line.
 *
 * The ranks' standard error comes through the launcher in pieces of any length. A line is written when its end has
 * come; where no end comes for a while, whole_lines_flush() writes what is there. A progress line begins with a
 * carriage return, ends with WHOLE_LINES_CLEAR and is overwritten by the next: it is written at once, and cleared
 * before a line is written. On a terminal the program's name before a line can be set off. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define WHOLE_LINES_CLEAR "\033[K" /* removes what stands behind the cursor */
#define WHOLE_LINES_MAX   65536u   /* a longer line is written in pieces */

struct whole_lines {
    char *line;          /* [line_length] beginning of a line; owned */
    size_t line_length;  /* at most WHOLE_LINES_MAX */
    char place[1024];    /* [place_length] beginning of a progress line, its carriage return first */
    size_t place_length; /* 0: none has begun */
    bool is_in_place;    /* a progress line stands there */
    char shown[1024];    /* [shown_length] the last progress line, unless it was cleared away */
    size_t shown_length;
    bool is_coloured;
    void (*write)(void *context, const char *bytes, size_t count);
    void *context;
};

/* -1 where memory is out. */
int whole_lines_init(struct whole_lines *lines, bool is_coloured,
                     void (*write)(void *context, const char *bytes, size_t count), void *context);
void whole_lines_fini(struct whole_lines *lines);
void whole_lines_take(struct whole_lines *lines, const char *bytes, size_t count);

/* True while the beginning of a line is held back. */
bool whole_lines_hold(const struct whole_lines *lines);

/* Writes the last progress line again, where other text was written over it. */
void whole_lines_redraw(struct whole_lines *lines);

/* Writes what is held back, and clears a progress line away where `ends`. */
void whole_lines_flush(struct whole_lines *lines, bool ends);
