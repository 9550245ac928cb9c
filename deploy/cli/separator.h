/* SPDX-License-Identifier: MIT */
/* A separator between the fields of a value: a text or a regular expression. */
#pragma once

#include "common/util/error.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

struct separator {
    char *text;
    size_t length;
    bool is_pattern;
    regex_t pattern;
};

/* \t means a TAB. If a text of several characters has special ones, it is an extended regular expression. Errors
 * begin with the text. On failure nothing is owned. */
int separator_init(struct separator *separator, const char *text, struct error *error);
void separator_fini(struct separator *separator);

/* Finds the separator in a text that ends with NUL: *found is where it begins, *length its length. Returns false if
 * it is not there. */
bool separator_find(const struct separator *separator, const char *text, size_t *found, size_t *length);
