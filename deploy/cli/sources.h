/* SPDX-License-Identifier: MIT */
/* Arguments of the tasks of `hdss exec`, which are combined to rows, one per task.
 *
 * A source has values: words of the command line, or texts in a file or on standard input that each end with a
 * delimiter. If there is a column separator, a value is split into fields. Linked sources are a group, and are read
 * side by side. The groups make a cross product, in which the last one changes fastest. The first group is read on
 * demand, and may have any length; the values of the others are kept. With `slots` or `shuffles`, everything is read
 * before the first row. All this is as in GNU parallel. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/rows.h"

#include <stdbool.h>
#include <stddef.h>

enum sources_trim { TRIM_DEFAULT, TRIM_NONE, TRIM_LEFT, TRIM_RIGHT, TRIM_BOTH };

struct sources_options {
    char delimiter;
    const char *separator;
    const char *end;
    bool header;
    bool skips_empty;
    bool link; /* all sources are one group, in which the values of shorter sources repeat */
    enum sources_trim trim;
    unsigned per_row; /* how many values of the only source make a row; 0: one */
    /* Minimum number of rows for the values of the only source, which are distributed over as few rows as possible. 0:
     * see per_row. */
    unsigned slots;
    bool csv;
    bool shuffles;
};

/* The fields of a row. They are valid until the next row is read. */
struct arguments {
    const struct piece *fields;
    unsigned count;
};

enum sources_result { SOURCES_ROW = 1, SOURCES_END = 0, SOURCES_WAIT = 2 };

struct sources;

/* Copies the options, and borrows their texts. Returns NULL if memory runs out. */
struct sources *sources_new(const struct sources_options *options);
void sources_free(struct sources *sources);

/* These add a source. If it is `linked`, it belongs to the group of the source before it. Words and path are borrowed;
 * "-" is standard input. */
int sources_add_words(struct sources *sources, char *const *words, unsigned count, bool linked, struct error *error);
int sources_add_file(struct sources *sources, const char *path, bool linked, struct error *error);

int sources_begin(struct sources *sources, struct error *error);

/* Valid until the sources are freed; empty if there is no header. */
struct arguments sources_names(const struct sources *sources);

/* Returns an enum sources_result or -1. SOURCES_WAIT is returned only if `waits` is false and standard input has
 * nothing yet. */
int sources_next(struct sources *sources, bool waits, struct arguments *row, struct error *error);

/* Returns the descriptor to wait for after SOURCES_WAIT; -1: none. */
int sources_descriptor(const struct sources *sources);
