/* SPDX-License-Identifier: MIT */
/* Makes words from outside safe to print: names, notes of kernels, errors of tasks. Each character by which they could
 * change the screen becomes '?': control characters (C0, DEL, C1), marks that change the direction of writing,
 * separators of lines, and bytes that are not UTF-8. */
#pragma once

#include <stddef.h>

/* Length of the UTF-8 sequence at `at`. 0 if it is not valid (too short, overlong, a surrogate, or beyond Unicode), or
 * a character that is not safe to print. */
size_t plain_length(const char *at);

/* The next character. After an invalid sequence: the next byte that can begin one. */
const char *plain_next(const char *at);

/* Number of characters; each is taken for one column. */
unsigned plain_columns(const char *text);

/* Changes the text in place, which may make it shorter. A tab becomes a blank. Returns the text. */
char *plain(char *text);
