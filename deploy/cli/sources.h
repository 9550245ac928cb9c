/* SPDX-License-Identifier: MIT */
/* Arguments of the tasks of `hdss exec`. They are combined to rows, one row per task, as in GNU parallel.
 *
 * A source has values: words of the command line, or texts in a file or on standard input, each ended by a delimiter.
 * If there is a column separator, a value is split into fields. Linked sources form a group: value i of each of them
 * goes into the same row. The rows are the cross product of the groups; the last group changes fastest.
 *
 * The values of the first group are read only when they are needed, so the group may have any length. The values of the
 * other groups are kept in memory. With `slots` or `shuffles`, everything is read before the first row. */
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
    bool link; /* all sources form one group; the values of shorter sources are repeated */
    enum sources_trim trim;
    unsigned per_row; /* how many values of the only source make a row; 0: one */
    /* The values of the only source are distributed over at most this many rows. If a row would become too long, there
     * are more rows. 0: see per_row. */
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
