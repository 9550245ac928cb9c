/* SPDX-License-Identifier: MIT */
/* A table that tasks take values from: TSV, or CSV where the name ends so. The first line names the columns.
 *
 * CSV is that of RFC 4180, with quotes, but a field ends in its line. A TSV field has no quotes and no escapes. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/lines.h"

#define TABLE_COLUMNS_MAX 1000

struct table_field {
    size_t start, length; /* in the text of its row */
};

struct table_row {
    char *text; /* the fields one after another, without their quotes; owned */
    size_t room;
    struct table_field fields[TABLE_COLUMNS_MAX];
    unsigned count;
};

struct table {
    struct lines lines;
    char separator;
    struct table_row head, row;
    uint64_t rows;
    uint64_t at; /* the row at hand; UINT64_MAX: none */
};

/* -1 with one line, and nothing owned. */
int table_open(struct table *table, const char *path, struct error *error);
void table_close(struct table *table);

/* Makes row i < rows the one at hand. -1 with one line that names the file and the line. */
int table_take(struct table *table, uint64_t i, struct error *error);

/* Index of the column of that name, -1 for none. */
int table_column(const struct table *table, const char *name, size_t length);

/* A field of the row at hand. */
static inline const char *table_field(const struct table *table, unsigned column, size_t *length)
{
    *length = table->row.fields[column].length;
    return table->row.text + table->row.fields[column].start;
}
