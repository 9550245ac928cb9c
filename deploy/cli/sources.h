/* SPDX-License-Identifier: MIT */
/* Arguments of the tasks of `hdss exec`, combined to rows, one per task.
 *
 * A source yields values: words of the command line, or texts up to a delimiter in a file or on standard input. With a
 * column separator a value is split into fields. Linked sources form a group and are read in parallel; the groups form
 * a cross product in which the last varies fastest. The first group is read on demand and may have any length; the
 * values of the others are kept. With `slots` and `shuffles` all is read before the first row. The semantics are GNU
 * parallel's. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/rows.h"

#include <stdbool.h>
#include <stddef.h>

enum sources_trim { TRIM_DEFAULT, TRIM_NONE, TRIM_LEFT, TRIM_RIGHT, TRIM_BOTH };

struct sources_options {
    char delimiter;         /* ends each value of a file */
    const char *separator;  /* between fields: see separator.h; NULL: none */
    const char *end;        /* value that ends a source; NULL: none */
    bool header;            /* the first value of each source names its columns */
    bool skips_empty;       /* skip empty values */
    bool link;              /* all sources form one group, in which shorter ones repeat */
    enum sources_trim trim; /* default: both sides with a separator, else none */
    unsigned per_row;       /* values of the only source per row; 0: one */
    unsigned slots; /* distribute the values of the only source to as few rows as possible, but at least so many; 0: see
                       per_row */
    bool csv;       /* files are CSV (RFC 4180) */
    bool shuffles;  /* random order */
};

/* The fields of a row, valid until the next one is read. */
struct arguments {
    const struct piece *fields;
    unsigned count;
};

enum sources_result { SOURCES_ROW = 1, SOURCES_END = 0, SOURCES_WAIT = 2 };

struct sources;

/* NULL without memory. Copies the options and borrows their strings. */
struct sources *sources_new(const struct sources_options *options);
void sources_free(struct sources *sources);

/* Adds a source, with `linked` to the group of the previous one. Words and path are borrowed; "-" is standard input. */
int sources_add_words(struct sources *sources, char *const *words, unsigned count, bool linked, struct error *error);
int sources_add_file(struct sources *sources, const char *path, bool linked, struct error *error);

/* Opens the files and reads what is needed before the first row. */
int sources_begin(struct sources *sources, struct error *error);

/* The column names, valid until the sources are freed; empty without a header. */
struct arguments sources_names(const struct sources *sources);

/* Returns an enum sources_result or -1. SOURCES_WAIT only if `waits` is false and standard input has nothing yet. */
int sources_next(struct sources *sources, bool waits, struct arguments *row, struct error *error);

/* Descriptor to wait for after SOURCES_WAIT; -1: none. */
int sources_descriptor(const struct sources *sources);
