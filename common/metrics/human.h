/* SPDX-License-Identifier: MIT */
/* Numbers for people: three significant digits, a unit, no exponents. All functions return `text`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HUMAN_MAX     32
#define HUMAN_BAR_MAX 60

/* Writes for example "850 us", "12.3 ms", "4.56 s", "3 min 05 s", "2 h 05 min" or "3 d 04 h"; writes "?" if `seconds`
 * is negative or not finite. */
const char *human_duration(char text[HUMAN_MAX], double seconds);

const char *human_count(char text[HUMAN_MAX], uint64_t count);

/* Writes for example "319", "45.6 k" or "1.23 M", in powers of 1000; writes "?" if `value` is below 0, or 10^21 or
 * more. */
const char *human_si(char text[HUMAN_MAX], double value);

/* Writes for example "319/s" or "5.10 k/s", and for low rates "12.5/min" or "3/h". */
const char *human_rate(char text[HUMAN_MAX], double per_second);

/* Draws a bar of `columns` columns (at most HUMAN_BAR_MAX), of which `share` is filled. With UTF-8 the bar is exact
 * to an eighth of a column. Without UTF-8 it consists of '#'. */
const char *human_bar(char text[3 * HUMAN_BAR_MAX + 1], double share, unsigned columns, bool utf8);
