/* SPDX-License-Identifier: MIT */
/* The time steps of loops that have several: how long each took, over the repetitions of a cell, as a table for
 * programs and as curves. A study keeps them with `steps = yes`. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/study/csv.h"
#include "deploy/cli/study/summary.h"

#include <stdbool.h>
#include <stddef.h>

/* The column of the table of runs: seconds of the time steps, with blanks between them. */
#define STEPS_COLUMN "steps.elapsed_s"
/* A run with more steps has no column: the table of runs would become too long to be read. */
#define STEPS_KEPT_MAX 1000

struct steps_of_cell {
    unsigned count;               /* steps; 0: no run of the cell has any */
    struct summary_value *values; /* [count] seconds of each step over the runs; owned */
    double *figures;              /* of all of them; owned */
};

struct steps {
    const struct summary *summary; /* borrowed */
    struct steps_of_cell *cells;   /* [cells of the matrix]; owned */
    struct cell *panels;           /* [panel_count] each a picture, named by its first cell; owned */
    size_t panel_count;            /* 0: there is nothing to be seen */
};

/* Reads the steps of all runs that are done; a run with another number of steps than the first of its cell is left out.
 * -1 with one line; steps_fini() is due all the same. */
int steps_init(struct steps *steps, const struct summary *summary, const struct csv *csv, struct error *error);
void steps_fini(struct steps *steps);

/* A CSV file with a row for each step of each cell: the values on all axes, the step from 1, the runs, and of the
 * seconds that it took the median, the ends of its interval of confidence, the least and the greatest. The caller frees
 * the text; NULL when memory is out. */
char *steps_csv(const struct steps *steps, size_t *length);

/* "steps", "steps-2": what the files of a panel are called. */
void steps_name(const struct steps *steps, size_t panel, char *text, size_t size);

/* "mandelbrot width=512, 4 workers": what all of the panel's curves share. */
void steps_panel_text(const struct steps *steps, size_t panel, char *text, size_t size);

/* Draws the curves of a panel: one for each process-level and each thread-level technique where these vary. -1 with one
 * line. */
int steps_draw(const struct steps *steps, size_t panel, const char *path, struct error *error);
