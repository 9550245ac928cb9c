/* SPDX-License-Identifier: MIT */
/* The figures of each cell over its repetitions: how many runs, and of each measure the median, least and greatest. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/study/csv.h"
#include "deploy/cli/study/matrix.h"

#define STATUS_DONE    "done"
#define STATUS_FAILED  "failed"
#define STATUS_TIMEOUT "timeout"

struct summary_value {
    unsigned count; /* runs that have the value; 0: the other members mean nothing */
    double median, least, most;
};

struct summary_cell {
    unsigned done, failed;
    const char *reason; /* reason of the last failure, borrowed from the table; NULL: none failed */
    const char *status; /* status of the last failure, likewise */
    struct summary_value values[MEASURES];
};

struct summary {
    const struct matrix *matrix; /* borrowed */
    struct summary_cell *cells;  /* owned */
    size_t done, failed;         /* runs of the matrix */
};

/* -1 with one line. Borrows from the table, which must not change. */
int summary_init(struct summary *summary, const struct matrix *matrix, const struct csv *csv, struct error *error);
void summary_fini(struct summary *summary);

/* Takes the figures of the runs of a cell, which it sorts. */
void summary_set(struct summary_value *value, double *values, unsigned count);

/* A figure as people write it, with three digits that mean something: "0.0123", "12.3", "1,234". */
void summary_number(double value, char *text, size_t size);

/* Writes a figure of a measure as summary_number() does; parts of a hundred have one digit behind the point. */
void summary_figure(int measure, double value, char *text, size_t size);
