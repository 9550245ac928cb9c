/* SPDX-License-Identifier: MIT */
/* Text for a terminal, broken between its words. */
#pragma once

#include <stddef.h>
#include <stdio.h>

enum { WRAP_WIDTH = 80 }; /* columns of what is printed */

/* Writes `length` bytes of `text` behind the `indent` columns that stand in the line; what does not fit goes on in
 * further lines, as far indented. Ends the line. */
void wrap_write(const char *text, size_t length, int indent, FILE *file);
