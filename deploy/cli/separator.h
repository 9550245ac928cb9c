/* SPDX-License-Identifier: MIT */
/* The separator between the fields of a value: a string, or a regular expression. */
#pragma once

#include "common/util/error.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

struct separator {
    char *text; /* the string, or what the expression was made of; owned */
    size_t length;
    bool is_pattern;
    regex_t pattern;
};

/* \t stands for a TAB, and one character for itself; a text with characters that mean something to an extended regular
 * expression is one. -1 with one line that begins with what the user typed, and nothing owned. */
int separator_init(struct separator *separator, const char *text, struct error *error);
void separator_fini(struct separator *separator);

/* Finds the separator in a text that a NUL ends; *found is where it begins, *length how long it is. False where there
 * is none. */
bool separator_find(const struct separator *separator, const char *text, size_t *found, size_t *length);
