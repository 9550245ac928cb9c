/* SPDX-License-Identifier: MIT */
/* Captures the output of another program. */
#pragma once

#include <stddef.h>

/* Time for programs that have little to say. */
#define CAPTURE_MS 10000

/* Runs `argv` (a program and at least one word, ended by NULL), waits for it, and stores the first `size` - 1 bytes of
 * its standard output in `text`; empty if it cannot be run. After the limit it is killed with its process group, which
 * is said, and the text is empty. It gets no standard input, and its standard error is dropped. */
void capture(char *const *argv, char *text, size_t size, int limit_ms);
