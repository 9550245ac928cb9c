/* SPDX-License-Identifier: MIT */
/* Makes foreign words safe to print: names, notes of kernels, errors of tasks. Characters that could change the screen
 * become '?': control characters (C0, DEL, C1), direction marks, line separators, and bytes that are not UTF-8. */
#pragma once

#include <stddef.h>

/* Length of the UTF-8 sequence at `at`; 0 if it is invalid or not safe to print. */
size_t plain_length(const char *at);

/* The next character, or after an invalid sequence the next possible start of one. */
const char *plain_next(const char *at);

/* Number of characters, counted as one column each. */
unsigned plain_columns(const char *text);

/* Changes the text in place, possibly to a shorter one. A tab becomes a blank. Returns the text. */
char *plain(char *text);
