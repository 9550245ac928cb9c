/* SPDX-License-Identifier: MIT */
/* A table that tasks take values from: TSV, or CSV where the name ends so. The first line names the columns, or is a
 * row like the others.
 *
 * CSV is that of RFC 4180, with quotes, but a field ends in its line. A TSV field has no quotes and no escapes. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/lines.h"
#include "worker/kernels/exec/row.h"

#define TABLE_COLUMNS_MAX 1000

/* The user's word about the first line: none, that it names the columns, or that it is a row. */
enum table_header { TABLE_HEADER_AUTO, TABLE_HEADER_YES, TABLE_HEADER_NO };

struct table {
    struct lines lines;
    char separator;
    struct row head, row;
    bool is_named; /* the first line names the columns */
    uint64_t rows;
    uint64_t at; /* the row at hand; UINT64_MAX: none */
};

/* Where nothing is said about a first line that looks like a row it is refused. -1 with one line, and nothing owned. */
int table_open(struct table *table, const char *path, enum table_header header, struct error *error);
void table_close(struct table *table);

/* Makes row i < rows the one at hand. -1 with one line that names the file and the line. */
int table_take(struct table *table, uint64_t i, struct error *error);

/* Row i as it stands in the file. -1 with one line that names the file. */
int table_line(struct table *table, uint64_t i, struct line *line, struct error *error);
