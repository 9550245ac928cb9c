/* SPDX-License-Identifier: MIT */
/* Breaks text into lines between two words. */
#pragma once

#include <stddef.h>
#include <stdio.h>

enum { WRAP_WIDTH = 80 };

/* Writes `length` bytes of `text` and ends the line. `indent` columns of the first line were written already; further
 * lines begin with as many blanks. */
void wrap_write(const char *text, size_t length, int indent, FILE *file);
