/* SPDX-License-Identifier: MIT */
/* Rows of fields: see rows.h. */
#include "deploy/cli/rows.h"

#include "common/util/grow.h"

#include <stdlib.h>
#include <string.h>

void rows_fini(struct rows *rows)
{
    free(rows->bytes);
    free(rows->fields);
    free(rows->ends);
    *rows = (struct rows){0};
}

void rows_clear(struct rows *rows)
{
    rows->length = rows->field_count = rows->count = 0;
}

bool rows_add(struct rows *rows, const char *text, size_t length)
{
    if (rows->length + length > rows->capacity || rows->bytes == NULL) {
        size_t capacity = 2 * (rows->length + length) + 64;
        char *bytes = realloc(rows->bytes, capacity);
        if (bytes == NULL)
            return false;
        rows->bytes = bytes;
        rows->capacity = capacity;
    }
    struct kept_field *fields = grow(rows->fields, rows->field_count, &rows->field_capacity, sizeof *fields);
    if (fields == NULL)
        return false;
    rows->fields = fields;
    rows->fields[rows->field_count++] = (struct kept_field){rows->length, length};
    if (length > 0)
        memcpy(rows->bytes + rows->length, text, length);
    rows->length += length;
    return true;
}

bool rows_end(struct rows *rows)
{
    size_t *ends = grow(rows->ends, rows->count, &rows->row_capacity, sizeof *ends);
    if (ends == NULL)
        return false;
    rows->ends = ends;
    rows->ends[rows->count++] = rows->field_count;
    return true;
}

static size_t rows_begin(const struct rows *rows, size_t i)
{
    return i > 0 ? rows->ends[i - 1] : 0;
}

size_t rows_fields(const struct rows *rows, size_t i)
{
    return (i < rows->count ? rows->ends[i] : rows->field_count) - rows_begin(rows, i);
}

struct piece rows_field(const struct rows *rows, size_t i, size_t field)
{
    const struct kept_field *kept = &rows->fields[rows_begin(rows, i) + field];
    return (struct piece){rows->bytes + kept->start, kept->length};
}
