/* SPDX-License-Identifier: MIT */
/* Lengths of time as batch systems write them. */
#pragma once

#include <stdint.h>

/* Parses "90" (seconds), "30m", "1h30m", "10:30" (minutes and seconds), "2:00:00" or "1-12:00:00" (with days). Returns
 * -1, and leaves `*seconds` as it is, for all else and for 2^31 seconds or more. */
int duration_parse(const char *text, uint64_t *seconds);

/* Parses the same texts as duration_parse(), and also fractions: "1.5", "50ms", "0.5h". */
int duration_parse_ns(const char *text, uint64_t *time_ns);

int duration_parse_some(const char *text, uint64_t *seconds);

#define DURATION_ACCEPTED "seconds, 30m, 2h, 1h30m, 1d, M:S, H:M:S or D-H:M:S"
