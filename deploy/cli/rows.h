/* SPDX-License-Identifier: MIT */
/* Rows of fields in memory. */
#pragma once

#include "worker/kernels/exec/row.h"

#include <stdbool.h>
#include <stddef.h>

/* Row i has the fields from ends[i - 1] (or 0) up to ends[i]. */
struct rows {
    char *bytes;
    size_t length, capacity;
    struct kept_field {
        size_t start, length;
    } * fields;
    size_t field_count, field_capacity;
    size_t *ends;
    size_t count, row_capacity;
};

void rows_fini(struct rows *rows);
void rows_clear(struct rows *rows);

/* Adds a field to the unfinished row, which rows_end() finishes. Returns false if memory runs out. */
bool rows_add(struct rows *rows, const char *text, size_t length);
bool rows_end(struct rows *rows);

/* rows_fields() returns the number of fields of row i; rows_field() returns one of them. Row i may be the unfinished
 * row (i == count). */
size_t rows_fields(const struct rows *rows, size_t i);
struct piece rows_field(const struct rows *rows, size_t i, size_t field);
