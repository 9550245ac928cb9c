/* SPDX-License-Identifier: MIT */
/* Replacement strings as in GNU parallel. {}: all fields. {N}: field N; a negative N counts from the end. {name}: the
 * field of that column. Each of these may select a part of the field. {.}: without extension; {/}: basename; {//}:
 * folder; {/.}: basename without extension; likewise {N.}, {name/} and so on. */
#pragma once

#include "worker/kernels/exec/row.h"

#include <stdbool.h>

enum part {
    PART_WHOLE,
    PART_NO_EXTENSION,
    PART_BASENAME,
    PART_FOLDER,
    PART_BASENAME_NO_EXTENSION,
    PART_NO_EXTENSIONS_2, /* without the last two extensions; the names below likewise */
    PART_NO_EXTENSIONS_3,
    PART_BASENAME_NO_2,
    PART_BASENAME_NO_3,
    PART_EXTENSION,
    PART_EXTENSIONS_2,
    PART_EXTENSIONS_3,
};

struct replacement {
    enum part part;
    const char *name;
    size_t name_length;
    int field;
};

enum {
    FIELD_ALL = -1,
    FIELD_BEYOND = -2,  /* a number, but no field has it */
    FIELD_UNKNOWN = -3, /* neither a number nor the name of a column */
};

/* Parses the text between the braces. `names`: names of the columns; NULL: none. `fields`: number of fields in the
 * row. */
struct replacement replacement_read(const char *text, size_t length, const struct row *names, unsigned fields);

struct piece replacement_part(enum part part, struct piece field);
