/* SPDX-License-Identifier: MIT */
/* Numbers on a command line, parsed strictly: the whole text must be the number. */
#pragma once

#include <stdint.h>

/* Parses an unsigned decimal integer. 1e6, 2^20 and 1_000_000 are accepted, too, if the value is an integer. For any
 * other text, and for values beyond 64 bits, returns -1 and leaves `*value` unchanged. */
int number_parse_u64(const char *text, uint64_t *value);

int number_parse_i64(const char *text, int64_t *value);

/* Parses a finite decimal number. Returns -1 for nan, inf, hexadecimal numbers, an empty text and trailing
 * characters. */
int number_parse_real(const char *text, double *value);

/* Writes a bound in a form that people and number_parse_u64() can read. For example, a large power of two or ten is
 * written as 2^20 or 1e6. */
#define NUMBER_BOUND_MAX 40
const char *number_bound_text(double bound, char text[NUMBER_BOUND_MAX]);
