/* SPDX-License-Identifier: MIT */
/* A list of rows with values for tasks. `hdss exec` writes it, perhaps while the job runs.
 *
 * The first line names the columns, and each other line is a task. Names and fields are separated by tabs, with \t for
 * a tab, \n for a newline, \r for a carriage return and \\ for a backslash. The last line is \. alone. Until this line
 * is written, rows may be added. A line without its newline does not count yet.
 *
 * A row that begins with \#N and a tab is task N for the writer. Other rows are numbered by their position. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/lines.h"
#include "worker/kernels/exec/row.h"

struct list {
    struct lines lines;
    struct row head, row;
    bool is_named;
    uint64_t rows;
    uint64_t title;
    uint64_t at;
    uint64_t order;
    bool is_wrong;
};

/* Begins a list without a file. Each call of list_give() provides a row; it is row 0 and replaces the previous row.
 * Names and fields are borrowed. The first `count` of the columns have names. Errors use `path` as the name of the
 * list. Call list_close() even on failure. */
int list_begin(struct list *list, const char *path, const struct piece *names, unsigned count, unsigned columns,
               struct error *error);
int list_give(struct list *list, uint64_t order, const struct piece *fields, unsigned count, struct error *error);

/* On failure nothing is owned. */
int list_open(struct list *list, const char *path, struct error *error);
void list_close(struct list *list);

static inline bool list_is_complete(const struct list *list)
{
    return list->lines.is_complete;
}

int list_extend(struct list *list, struct error *error);

/* Makes row i the current one. Waits a short time for a row that the file system does not show yet. */
int list_take(struct list *list, uint64_t i, struct error *error);
