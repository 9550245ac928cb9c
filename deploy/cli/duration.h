/* SPDX-License-Identifier: MIT */
/* Spans of time as batch systems write them. */
#pragma once

#include <stdint.h>

/* "90" (seconds), "30m", "1h30m", "10:30" (minutes and seconds), "2:00:00", "1-12:00:00" (days first). -1 for
 * anything else, and beyond 2^31 seconds; `*seconds` is then untouched. */
int duration_parse(const char *text, uint64_t *seconds);

/* The same in nanoseconds, also with fractions: "1.5", "50ms", "0.5h". */
int duration_parse_ns(const char *text, uint64_t *time_ns);

/* The same for a time above 0. */
int duration_parse_some(const char *text, uint64_t *seconds);

/* Text for error messages: the accepted forms. */
#define DURATION_ACCEPTED "seconds, 30m, 2h, 1h30m, 1d, M:S, H:M:S or D-H:M:S"
