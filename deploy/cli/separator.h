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

/* `\t` means a TAB. A text of several characters is an extended regular expression if at least one of them is special
 * in such expressions. An error message begins with `text`. On failure nothing is owned. */
int separator_init(struct separator *separator, const char *text, struct error *error);
void separator_fini(struct separator *separator);

/* Finds the separator in a text that ends with NUL, at *found with *length bytes. Returns false if there is none. */
bool separator_find(const struct separator *separator, const char *text, size_t *found, size_t *length);
