/* SPDX-License-Identifier: MIT */
/* Words from outside in text for people: names, notes of kernels, errors of tasks. What a terminal would obey is shown
 * as '?': control characters, also those of two bytes (C1), marks and embeddings that change the direction of writing,
 * separators of lines, and what is not UTF-8. */
#pragma once

#include <stddef.h>

/* Length of the UTF-8 sequence at `at`, 0 where there is none: too short, overlong, a surrogate, or beyond Unicode. */
size_t plain_utf8(const char *at);

/* The same of a character that may be shown, 0 of any other. */
size_t plain_length(const char *at);

/* The character behind that at `at`, or behind one that is broken. */
const char *plain_next(const char *at);

/* Characters, of which each takes a column. */
unsigned plain_columns(const char *text);

/* Makes the text fit to be shown, which may make it shorter; a tab becomes a blank. Returns it. */
char *plain(char *text);
