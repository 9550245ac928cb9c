/* SPDX-License-Identifier: MIT */
/* A table on a page: columns as wide as what is in them, which are left out one after the other where there is no room,
 * and a bar that takes what is left. Pure. */
#pragma once

#include "deploy/cli/top/page.h"

#define TABLE_COLUMNS_MAX 12
#define TABLE_CELL_MAX    160 /* bytes */

struct table_column {
    const char *heading;
    bool is_number;       /* stands at the right of its column */
    bool is_bar;          /* its cells have shares */
    bool keeps_end;       /* of a text that is too long the end says most, as of a path */
    unsigned least;       /* columns that it has at least, where it is there; of a bar also */
    unsigned most;        /* columns that it has at most; 0: any number */
    unsigned dispensable; /* the order in which columns are left out, from 1; 0: never */
};

struct table_cell {
    char text[TABLE_CELL_MAX];
    enum look look;
    double share; /* of a bar; below 0: none */
};

struct table_row {
    struct table_cell cells[TABLE_COLUMNS_MAX];
    bool is_selected;
};

/* Adds a line of headings, and one for each row. */
void table_add(struct page *page, const struct table_column *columns, unsigned column_count,
               const struct table_row *rows, size_t row_count);
