/* SPDX-License-Identifier: MIT */
/* Reads a file of records back as the lines of a table, from the first to the last, in blocks.
 *
 * Two-dimensional results are rows of the array, whatever layout the records have; others are one line per record, and
 * one-dimensional ones one line per element. */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdbool.h>
#include <stdint.h>

struct rows {
    int fd;
    const char *path; /* borrowed, for messages */
    struct hdss_loop loop;
    uint64_t rows, columns;
    bool transposed;             /* the file holds column after column */
    size_t element;              /* bytes */
    uint64_t next;               /* the row that rows_next() returns */
    uint64_t first, count, room; /* rows in the block, and how many it can hold */
    char *block, *column;        /* owned */
};

/* -1 with one line, and nothing is open. */
int rows_open(struct rows *rows, const char *path, const struct hdss_loop *loop, struct error *error);
void rows_close(struct rows *rows);

/* Starts again at the first row. */
void rows_rewind(struct rows *rows);

/* The next row's `columns` elements, valid until the next call; `*row` is NULL behind the last one. -1 with one line.
 */
int rows_next(struct rows *rows, const void **row, struct error *error);
