/* SPDX-License-Identifier: MIT */
/* Makes words from outside safe to print: names, notes of kernels, errors of tasks. Characters that could change the
 * screen become '?': control characters (C0, DEL, C1), direction marks, line separators, and bytes that are not
 * UTF-8. */
#pragma once

#include <stddef.h>

/* Returns the length of the UTF-8 sequence at `at`; 0: it is invalid or not safe to print. */
size_t plain_length(const char *at);

/* Returns the address of the next character. If the sequence at `at` is invalid, returns the address of the next byte
 * at which a character can start. */
const char *plain_next(const char *at);

unsigned plain_columns(const char *text);

/* Changes the text in place; it may become shorter. A tab becomes a blank. Returns the text. */
char *plain(char *text);
