/* SPDX-License-Identifier: MIT */
/* The figures of each cell over its repetitions: how many runs, of each measure the median, its interval of confidence
 * and the quartiles, and whether the cell's loop time differs from another one's. */
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
    double lower, upper;  /* quartiles */
    bool has_interval;    /* fewer than BOOTSTRAP_LEAST runs have none, nor has the same run again */
    double low, high;     /* ends of the interval of confidence of the median */
    const double *values; /* [count] in ascending order; borrowed from the summary */
};

/* The word for a difference of loop times, by the corrected probability. */
enum verdict {
    VERDICT_QUICKER,
    VERDICT_SLOWER,
    VERDICT_UNCLEAR, /* the difference may be chance */
    VERDICT_FEW,     /* so few runs cannot show any difference */
    VERDICT_SAME,    /* the runs of one of both cells are the same again and again: chance has no part in them */
};

/* The loop time of a cell beside that of another one: see differences.h. */
struct difference {
    bool is_known;    /* false: there is nothing to compare with, and the other members mean nothing */
    unsigned against; /* the other cell */
    double saved;     /* 100 times the part of the other's median that is saved */
    bool has_interval;
    double low, high;   /* of `saved` */
    bool has_p;         /* not where the verdict is VERDICT_SAME */
    double p;           /* of the test of Mann and Whitney */
    double p_corrected; /* for all cells that are compared with the same one */
    enum verdict verdict;
};

struct summary_cell {
    unsigned done, failed;
    const char *reason; /* reason of the last failure, borrowed from the table; NULL: none failed */
    const char *status; /* status of the last failure, likewise */
    struct summary_value values[MEASURES];
    struct difference difference;
};

struct summary {
    const struct matrix *matrix; /* borrowed */
    struct summary_cell *cells;  /* owned */
    double *values;              /* of all cells; owned */
    size_t done, failed;         /* runs of the matrix */
    size_t to_come;              /* runs that are neither, of cells that are not settled */
};

/* -1 with one line. Borrows from the table, which must not change. */
int summary_init(struct summary *summary, const struct matrix *matrix, const struct csv *csv, struct error *error);
void summary_fini(struct summary *summary);

/* Takes the figures of the runs of a cell, which it sorts and borrows, without an interval of confidence. */
void summary_set(struct summary_value *value, double *values, unsigned count);

/* The same with one, where there are runs enough, and `repeats` is false: they are not the same run again. */
void summary_set_with_interval(struct summary_value *value, double *values, unsigned count, bool repeats);

/* True if the study runs a cell until its interval is narrow enough, and the one of these loop times is, or they are
 * all the same. */
bool summary_is_settled(const struct study *study, const struct summary_value *elapsed);

/* The cell that this one is compared with where the study has a baseline. */
unsigned summary_baseline(const struct summary *summary, unsigned cell);

/* The loop time that one worker would take: of the quickest cell of the kernel with the fewest workers and threads,
 * times these. 0: there is none. */
double summary_serial_time(const struct summary *summary, unsigned kernel);

/* A figure as people write it, with three digits that mean something: "0.0123", "12.3", "1,234". */
void summary_number(double value, char *text, size_t size);

/* Writes a figure of a measure as summary_number() does; parts of a hundred have one digit behind the point. */
void summary_figure(int measure, double value, char *text, size_t size);
