/* SPDX-License-Identifier: MIT */
/* The runs of a study: its cells, their order, and the command line of each. Nothing here starts anything. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/study/csv.h"
#include "deploy/cli/study/plan.h"

struct cell {
    unsigned short at[AXES]; /* index of the value on each axis */
};

struct matrix {
    const struct study *study; /* borrowed */
    struct cell *cells;        /* owned; all combinations, those of the last axis next to each other */
    unsigned count;
};

struct matrix_run {
    unsigned cell, repetition; /* from 0 */
};

/* -1 with one line. */
int matrix_init(struct matrix *matrix, const struct study *study, struct error *error);
void matrix_fini(struct matrix *matrix);

const char *matrix_value(const struct matrix *matrix, unsigned cell, int axis);

/* The cell that has these values. */
unsigned matrix_find(const struct matrix *matrix, const struct cell *cell);

/* Returns all runs in the order in which they are due: the first repetition of every cell, shuffled by the seed, then
 * the second. So a machine that becomes slower in the meantime does not look like an effect of an axis, and a study
 * that ends early has as much of every cell. The caller frees the list; NULL when memory is out. */
struct matrix_run *matrix_order(const struct matrix *matrix, size_t *count);

/* "mandelbrot width=512, dtss, 2 masters, 4 workers": what varies, for people. */
void matrix_describe(const struct matrix *matrix, unsigned cell, char *text, size_t size);

/* True if `hdss simulate` does it, not `hdss run`. */
bool matrix_simulates(const struct matrix *matrix, unsigned cell);

/* True if the repetitions of the cell are the same run again: simulated, without seeds of their own. They tell nothing
 * of chance. */
bool matrix_repeats(const struct matrix *matrix, unsigned cell);

/* The words for the command, with its report to `report`. */
void matrix_compose(const struct matrix *matrix, unsigned cell, const char *report, struct argv *line);

/* Writes what the run is into a row of the table; reads of which run a row is: false where it is none of the matrix. */
void matrix_write(const struct matrix *matrix, const struct matrix_run *run, struct csv *csv, size_t row);
bool matrix_read(const struct matrix *matrix, const struct csv *csv, size_t row, struct matrix_run *run);

/* The row of each run, all repetitions of a cell next to each other; MATRIX_NO_ROW where there is none. The caller
 * frees it; NULL when memory is out. */
#define MATRIX_NO_ROW SIZE_MAX
size_t *matrix_rows(const struct matrix *matrix, const struct csv *csv);
