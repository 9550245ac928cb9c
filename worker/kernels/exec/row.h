/* SPDX-License-Identifier: MIT */
/* A row of a table or list: its fields, whose text is in one block. */
#pragma once

#include <stddef.h>

struct piece {
    const char *text; /* without NUL */
    size_t length;
};

struct row {
    char *text; /* all fields without quotes and escapes, one after the other; owned */
    size_t room;
    struct piece *fields;
    unsigned count, field_room;
};

void row_fini(struct row *row);

int row_begin(struct row *row, size_t bytes);

int row_add(struct row *row, size_t start, size_t length);

int row_find(const struct row *row, const char *text, size_t length);
