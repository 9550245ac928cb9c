/* SPDX-License-Identifier: MIT */
/* Numbers as people write them on a command line: strict, the whole text must be the number. */
#pragma once

#include <stdint.h>

/* Unsigned decimal integer; `1e6`, `2^20` and underscores (1_000_000) are accepted where the value is whole.
 * -1 for anything else and for what does not fit 64 bits. `*value` is untouched on failure. */
int number_parse_u64(const char *text, uint64_t *value);

/* Signed decimal integer with the same spellings. */
int number_parse_i64(const char *text, int64_t *value);

/* Finite decimal number. -1 for nan, inf, hexadecimal, an empty text or trailing characters. */
int number_parse_real(const char *text, double *value);

/* A bound as people write it, and as the functions above read it: large powers of two and ten as such, 2^20 and 1e6. */
#define NUMBER_BOUND_MAX 40
const char *number_bound_text(double bound, char text[NUMBER_BOUND_MAX]);
