/* SPDX-License-Identifier: MIT */
/* A table with values for tasks. It is CSV if its file name says so, otherwise TSV. The first line either names the
 * columns or is a row.
 *
 * CSV follows RFC 4180, so a quoted field may contain line ends. TSV has neither quotes nor escapes. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/lines.h"
#include "worker/kernels/exec/row.h"

#define TABLE_COLUMNS_MAX 1000

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

int table_take(struct table *table, uint64_t i, struct error *error);

int table_line(struct table *table, uint64_t i, struct line *line, struct error *error);
