/* SPDX-License-Identifier: MIT */
/* A separator between the fields of a value: a string or a regular expression. */
#pragma once

#include "common/util/error.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

struct separator {
    char *text; /* of the string or the regular expression; owned */
    size_t length;
    bool is_pattern;
    regex_t pattern;
};

/* \t stands for a TAB. A text of several characters with special ones is an extended regular expression. Errors begin
 * with the text; nothing is owned then. */
int separator_init(struct separator *separator, const char *text, struct error *error);
void separator_fini(struct separator *separator);

/* Finds the separator in a NUL-terminated text: *found is its offset, *length its length. False if absent. */
bool separator_find(const struct separator *separator, const char *text, size_t *found, size_t *length);
