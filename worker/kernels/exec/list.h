/* SPDX-License-Identifier: MIT */
/* A list of rows that tasks take values from, as `hdss exec` writes it, be it while they run.
 *
 * The first line names the columns, each other line is a task; names and fields are separated by tabs, in which \t is a
 * tab, \n a newline, \r a carriage return and \\ a backslash. The last line is \. alone: without it the list is open,
 * and more rows may come. A line without its newline is not there yet.
 *
 * A row is task N of those that its writer counts where \#N and a tab stand before it; else it is the one that its
 * place says. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/lines.h"
#include "worker/kernels/exec/row.h"

struct list {
    struct lines lines;
    struct row head, row;
    bool is_named;  /* columns have other names than their numbers */
    uint64_t rows;  /* rows that are known to be there */
    uint64_t title; /* digest of the first line */
    uint64_t at;    /* the row at hand; UINT64_MAX: none */
    uint64_t order; /* the number of its task, from 1 */
    bool is_wrong;  /* the row that was asked for is there, and is none */
};

/* -1 with one line, and nothing owned. */
int list_open(struct list *list, const char *path, struct error *error);
void list_close(struct list *list);

/* True if no row will be added any more. */
static inline bool list_is_complete(const struct list *list)
{
    return list->lines.is_complete;
}

/* Takes in the rows that were added. -1 with one line that names the file. */
int list_extend(struct list *list, struct error *error);

/* Makes row i the one at hand. One that is not there yet is waited for, as long as a file system may take to show it.
 * -1 with one line that names the file and the line. */
int list_take(struct list *list, uint64_t i, struct error *error);
