/* SPDX-License-Identifier: MIT */
/* Captures the output of another program. */
#pragma once

#include <stddef.h>

/* Runs `argv` (ends with NULL), waits for it, and stores the first `size` - 1 bytes of its standard output in `text`;
 * empty if it cannot be run. It gets no standard input, and its standard error is dropped. */
void capture(char *const *argv, char *text, size_t size);
