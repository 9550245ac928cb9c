/* SPDX-License-Identifier: MIT */
/* The output of another program. */
#pragma once

#include <stddef.h>

/* Runs `argv` (ends with a NULL) and keeps the first `size` - 1 bytes of its standard output as a string in `text`,
 * empty where it cannot be run. Its standard input is closed off, its standard error dropped; waits for its end. */
void capture(char *const *argv, char *text, size_t size);
