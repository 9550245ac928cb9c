/* SPDX-License-Identifier: MIT */
/* Breaks text between words. */
#pragma once

#include <stddef.h>
#include <stdio.h>

enum { WRAP_WIDTH = 80 }; /* columns */

/* Writes `length` bytes of `text` after `indent` columns that are already written; continues on lines with the same
 * indent. Ends the line. */
void wrap_write(const char *text, size_t length, int indent, FILE *file);
