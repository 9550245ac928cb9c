/* SPDX-License-Identifier: MIT */
/* Numbers on a command line, parsed strictly: the whole text must be the number. */
#pragma once

#include <stdint.h>

/* Unsigned decimal integer; `1e6`, `2^20` and 1_000_000 are accepted if the value is integral.
 * -1 for anything else and beyond 64 bits, with `*value` unchanged. */
int number_parse_u64(const char *text, uint64_t *value);

/* Signed decimal integer with the same notations. */
int number_parse_i64(const char *text, int64_t *value);

/* Finite decimal number. -1 for nan, inf, hexadecimal, empty text and trailing characters. */
int number_parse_real(const char *text, double *value);

/* Writes a bound as people and the functions above read it: large powers of two and ten as 2^20 and 1e6. */
#define NUMBER_BOUND_MAX 40
const char *number_bound_text(double bound, char text[NUMBER_BOUND_MAX]);
