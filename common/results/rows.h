/* SPDX-License-Identifier: MIT */
/* Reads a file of records as the rows of a table, in blocks.
 *
 * A row of two-dimensional results is a row of the array, whatever the layout of the file. A row of one-dimensional
 * results is an element. A row of other results is a record. */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdbool.h>
#include <stdint.h>

struct rows {
    int fd;
    const char *path;
    struct hdss_loop loop;
    uint64_t rows, columns;
    bool transposed;
    size_t element;
    uint64_t next;
    uint64_t first, count, room;
    char *block, *column;
};

int rows_open(struct rows *rows, const char *path, const struct hdss_loop *loop, struct error *error);
void rows_close(struct rows *rows);

void rows_rewind(struct rows *rows);

/* Sets `row` to the next row, which has `columns` elements and is valid until the next call. Sets it to NULL after the
 * last row. */
int rows_next(struct rows *rows, const void **row, struct error *error);
