/* SPDX-License-Identifier: MIT */
/* Rows: see row.h. */
#include "worker/kernels/exec/row.h"

#include <stdlib.h>
#include <string.h>

void row_fini(struct row *row)
{
    free(row->text);
    free(row->fields);
    *row = (struct row){0};
}

int row_begin(struct row *row, size_t bytes)
{
    row->count = 0;
    if (bytes < row->room)
        return 0;
    free(row->text);
    row->room = 2 * bytes + 256;
    row->text = malloc(row->room);
    if (row->text == NULL)
        row->room = 0;
    return row->text == NULL ? -1 : 0;
}

int row_add(struct row *row, size_t start, size_t length)
{
    if (row->count == row->field_room) {
        unsigned room = 2 * row->field_room + 16;
        struct piece *fields = realloc(row->fields, room * sizeof *fields);
        if (fields == NULL)
            return -1;
        row->fields = fields;
        row->field_room = room;
    }
    row->fields[row->count++] = (struct piece){row->text + start, length};
    return 0;
}

int row_find(const struct row *row, const char *text, size_t length)
{
    for (unsigned i = 0; i < row->count; i++)
        if (row->fields[i].length == length && memcmp(row->fields[i].text, text, length) == 0)
            return (int)i;
    return -1;
}
