/* SPDX-License-Identifier: MIT */
/* Replacement strings for the fields of a row, as GNU parallel has them: {} all fields, {N} field N, from the end where
 * N is negative, {name} the field of that column; and of each a part: {.} without its extension, {/} its basename, {//}
 * its folder, {/.} its basename without extension, likewise {N.} {name/} and so on. */
#pragma once

#include "worker/kernels/exec/row.h"

#include <stdbool.h>

enum part {
    PART_WHOLE,
    PART_NO_EXTENSION,
    PART_BASENAME,
    PART_FOLDER,
    PART_BASENAME_NO_EXTENSION,
    PART_NO_EXTENSIONS_2, /* without the last two extensions, and so on */
    PART_NO_EXTENSIONS_3,
    PART_BASENAME_NO_2,
    PART_BASENAME_NO_3,
    PART_EXTENSION,
    PART_EXTENSIONS_2,
    PART_EXTENSIONS_3,
};

struct replacement {
    enum part part;
    const char *name; /* what stands before the part; borrowed */
    size_t name_length;
    int field; /* index of the field; FIELD_ALL, FIELD_BEYOND or FIELD_UNKNOWN */
};

enum {
    FIELD_ALL = -1,
    FIELD_BEYOND = -2,  /* a number that the row has no field for */
    FIELD_UNKNOWN = -3, /* neither a number nor the name of a column */
};

/* Takes apart what is between the braces; `names` are those of the columns, NULL where they have none, and `fields` is
 * how many the row has. */
struct replacement replacement_read(const char *text, size_t length, const struct row *names, unsigned fields);

/* The part of a field; a piece of it, or a constant. */
struct piece replacement_part(enum part part, struct piece field);
