/* SPDX-License-Identifier: MIT */
/* A table of texts that is kept in a CSV file (RFC 4180): the first line names the columns, and rows may bring new
 * ones.
 *
 * The file is written anew after each change, so that it is whole whatever ends the program. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/argv.h"

struct csv {
    struct argv columns;
    struct argv *rows; /* owned; one word for each column, or fewer: the others are empty */
    size_t count, capacity;
    bool failed; /* memory was out; further changes do nothing */
};

void csv_fini(struct csv *csv);

/* Adds an empty row and returns its number. */
size_t csv_add(struct csv *csv);

/* In a new column it is the first value. */
void csv_set(struct csv *csv, size_t row, const char *column, const char *value);

/* "" where there is none. Valid until the row changes. */
const char *csv_get(const struct csv *csv, size_t row, const char *column);

void csv_remove(struct csv *csv, size_t row);

/* Reads a file's text. -1 with one line that names the line of the text; csv_fini() is due all the same. */
int csv_parse(struct csv *csv, const char *name, const char *text, struct error *error);

/* The text of the file; the caller frees it. NULL when memory is out. */
char *csv_text(const struct csv *csv, size_t *length);
