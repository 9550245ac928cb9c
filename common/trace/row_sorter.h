/* SPDX-License-Identifier: MIT */
/* Rows of a trace, sorted by place and time outside of memory, as a form may want them in another order than that in
 * which they come, and there may be 10^8 of them.
 *
 * It is a merge sort in a file: as many rows as fit into some megabytes are sorted and written behind one another, as a
 * run; in the end all runs are read at the same time, some rows of each at a time. So memory does not grow with the
 * rows. The file loses its name as soon as it is made: nothing is left of it, whatever becomes of the process. */
#pragma once

#include "common/trace/rows.h"
#include "common/util/error.h"

#include <stdint.h>

struct sorted_row {
    uint64_t at_ns;  /* time by which it is sorted */
    uint64_t number; /* the sorter's: rows of the same place and time stay in the order in which they came */
    uint32_t place;
    uint32_t master; /* as it was added */
    struct chunk_row row;
};

typedef void sorted_row_taker(void *context, const struct sorted_row *row);

struct row_sorter;

/* Makes the file `name`, in a folder with as much room as the rows take, 120 bytes each. NULL with one line. */
struct row_sorter *row_sorter_new(const char *name, struct error *error);

/* Adds a row, without its number. Problems show at the end. */
void row_sorter_add(struct row_sorter *sorter, const struct sorted_row *row);

/* Gives all rows by place, time and number; nothing can be added any more. -1 with one line where they cannot be
 * written or read, and then some may have been given. */
int row_sorter_give(struct row_sorter *sorter, sorted_row_taker *take, void *context, struct error *error);

/* NULL is fine. */
void row_sorter_free(struct row_sorter *sorter);
