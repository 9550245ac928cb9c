/* SPDX-License-Identifier: MIT */
/* Rows of fields that are kept in memory, one behind the other. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct field {
    const char *text; /* not NUL-terminated */
    size_t length;
};

/* The fields of a row are those up to `end` that are not of the one before. */
struct rows {
    char *bytes; /* owned, as are the others */
    size_t length, capacity;
    struct kept_field {
        size_t start, length;
    } * fields;
    size_t field_count, field_capacity;
    size_t *ends;
    size_t count, row_capacity;
};

void rows_fini(struct rows *rows);
/* Forgets all rows and keeps their memory. */
void rows_clear(struct rows *rows);

/* Appends a field to the row that is being made; rows_end() completes it. False without memory. */
bool rows_add(struct rows *rows, const char *text, size_t length);
bool rows_end(struct rows *rows);

/* The number of fields of a complete row, or of the one that is being made (i == count), and one of them. */
size_t rows_fields(const struct rows *rows, size_t i);
struct field rows_field(const struct rows *rows, size_t i, size_t field);
