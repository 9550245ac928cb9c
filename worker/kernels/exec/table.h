/* SPDX-License-Identifier: MIT */
/* A table with values for tasks: CSV if its name says so, otherwise TSV. The first line names the columns, or is a row.
 *
 * CSV follows RFC 4180, with quotes, but a field cannot contain a line end. TSV has neither quotes nor escapes. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/lines.h"
#include "worker/kernels/exec/row.h"

#define TABLE_COLUMNS_MAX 1000

/* What the user says about the first line: nothing, that it names the columns, or that it is a row. */
enum table_header { TABLE_HEADER_AUTO, TABLE_HEADER_YES, TABLE_HEADER_NO };

struct table {
    struct lines lines;
    char separator;
    struct row head, row;
    bool is_named;
    uint64_t rows;
    uint64_t at;
};

/* TABLE_HEADER_AUTO: fails if the first line looks like a row. On failure nothing is owned. */
int table_open(struct table *table, const char *path, enum table_header header, struct error *error);
void table_close(struct table *table);

/* Makes row i < rows the current one. Errors name file and line. */
int table_take(struct table *table, uint64_t i, struct error *error);

/* Returns row i unparsed. Errors name the file. */
int table_line(struct table *table, uint64_t i, struct line *line, struct error *error);
