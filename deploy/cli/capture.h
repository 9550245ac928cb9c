/* SPDX-License-Identifier: MIT */
/* Captures the output of another program. */
#pragma once

#include <stddef.h>

#define CAPTURE_MS 10000

/* Runs `argv` (a program and at least one word, ended by NULL), waits for it, and stores the first `size` - 1 bytes of
 * its standard output in `text`; `text` is empty if the program cannot be run. After `limit_ms` it kills the program
 * with its process group, prints a note, and leaves `text` empty. The program has no standard input, and its standard
 * error is dropped. */
void capture(char *const *argv, char *text, size_t size, int limit_ms);
