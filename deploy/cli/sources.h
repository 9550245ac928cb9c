/* SPDX-License-Identifier: MIT */
/* The arguments of the tasks of `hdss exec`: where they come from, and how they are put together to rows, one a task.
 *
 * A source yields values: words of the command line, or what a delimiter ends in a file or on standard input. With a
 * column separator a value has several fields, else one. Sources that are linked belong to one group and are read side
 * by side; the groups make a cross product, in which the last varies the fastest. The first group is read as it goes,
 * so that it may have any length; the values of the others are kept. With `slots` and `shuffles` all is read before the
 * first row. The meaning is that of GNU parallel. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/rows.h"

#include <stdbool.h>
#include <stddef.h>

enum sources_trim { TRIM_DEFAULT, TRIM_NONE, TRIM_LEFT, TRIM_RIGHT, TRIM_BOTH };

struct sources_options {
    char delimiter;         /* behind each value of a file */
    const char *separator;  /* between the fields of a value: see separator.h; NULL: none */
    const char *end;        /* the value that ends a source; NULL: none */
    bool header;            /* the first value of each source names its columns */
    bool skips_empty;       /* a value that is empty is none */
    bool link;              /* all sources are one group, in which the shorter ones begin again */
    enum sources_trim trim; /* by default with a separator on both sides, else not */
    unsigned per_row;       /* values of the only source that make a row; 0: one */
    unsigned slots;         /* the values of the only source make as few rows as can be, but so many; 0: see per_row */
    bool csv;               /* files are CSV, RFC 4180 */
    bool shuffles;          /* the rows come in a random order */
};

/* The fields of a task. Valid until the next one is read. */
struct arguments {
    const struct field *fields;
    unsigned count;
};

enum sources_result { SOURCES_ROW = 1, SOURCES_END = 0, SOURCES_WAIT = 2 };

struct sources;

/* NULL without memory. The options are copied, their strings borrowed. */
struct sources *sources_new(const struct sources_options *options);
void sources_free(struct sources *sources);

/* Add a source. One that is linked belongs to the group of the one before. The words and the path are borrowed; "-" is
 * standard input. -1 with one line. */
int sources_add_words(struct sources *sources, char *const *words, unsigned count, bool linked, struct error *error);
int sources_add_file(struct sources *sources, const char *path, bool linked, struct error *error);

/* Opens the files and reads all that is read before the first row: what is kept, and the names. -1 with one line. */
int sources_begin(struct sources *sources, struct error *error);

/* The names of the columns, as a header has them: none without one. Valid until the sources are freed. */
struct arguments sources_names(const struct sources *sources);

/* Returns one of enum sources_result, or -1 with one line. SOURCES_WAIT only where `waits` is false and standard input
 * has nothing at the moment. */
int sources_next(struct sources *sources, bool waits, struct arguments *row, struct error *error);

/* The descriptor that has what SOURCES_WAIT waits for; -1: none has. */
int sources_descriptor(const struct sources *sources);
