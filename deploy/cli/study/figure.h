/* SPDX-License-Identifier: MIT */
/* The pictures of a study: lines or bars of a measure along an axis, box plots of the runs, and heat maps of two axes.
 * What has other values on the remaining axes gets a picture of its own: a panel. Where lines are not for techniques
 * there are pictures with all techniques together as well. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/study/summary.h"

enum figure_kind {
    FIGURE_LINES,
    FIGURE_ALL,   /* lines for each technique and each value of the lines' axis together */
    FIGURE_BOXES, /* box plots of what FIGURE_LINES, or FIGURE_ALL, has */
    FIGURE_HEAT,
};

struct figure {
    enum figure_kind kind;
    int measure;
    struct cell panel; /* values of the panel on the axes that do not lie in the picture */
    int x, y;          /* the axes: of a heat map both; y of lines: what each line is for, or AXIS_NONE */
    int group; /* of lines: the other axis of what each line is for, or AXIS_NONE: there is one line for each value
                  of `group` and each of `y`, those of a group next to each other */
};

/* Lists all figures; the caller frees the list. NULL when memory is out. */
struct figure *figures_list(const struct summary *summary, size_t *count);

/* "time", "time-2", "all-time", "box-time", "heat-time": what its files are called. */
void figure_name(const struct figure *figure, const struct figure *all, size_t count, char *text, size_t size);

/* "Loop time against workers". */
void figure_title(const struct summary *summary, const struct figure *figure, char *text, size_t size);

/* "mandelbrot width=512, dfss": the panel. */
void figure_panel(const struct summary *summary, const struct figure *figure, char *text, size_t size);

/* The cell at these values of its axes; y is the number of the line, and 0 where there is no such axis. */
const struct summary_cell *figure_cell(const struct summary *summary, const struct figure *figure, unsigned x,
                                       unsigned y);

/* True if there is anything to be seen. */
bool figure_has_data(const struct summary *summary, const struct figure *figure);

/* Writes a text below the title of a picture, in two lines where it is long. */
void figure_write_caption(const char *text, FILE *script);

/* Draws the file. -1 with one line. */
int figure_draw(const struct summary *summary, const struct figure *figure, const char *path, struct error *error);
