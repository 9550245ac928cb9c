/* SPDX-License-Identifier: MIT */
/* A row of a table or of a list: its fields, of which the text is kept in one piece. */
#pragma once

#include <stddef.h>

struct piece {
    const char *text; /* not ended by NUL */
    size_t length;
};

/* Reused from row to row. */
struct row {
    char *text; /* the fields one after another, without quotes and escapes; owned */
    size_t room;
    struct piece *fields; /* owned */
    unsigned count, field_room;
};

void row_fini(struct row *row);

/* Empties the row, and makes room for fields that have so many bytes together. -1 when memory is out. */
int row_begin(struct row *row, size_t bytes);

/* Adds a field of the row's text. -1 when memory is out. */
int row_add(struct row *row, size_t start, size_t length);

/* Index of the first field of that text, -1 for none. */
int row_find(const struct row *row, const char *text, size_t length);
