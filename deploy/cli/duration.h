/* SPDX-License-Identifier: MIT */
/* Time spans as batch systems write them. */
#pragma once

#include <stdint.h>

/* Parses "90" (seconds), "30m", "1h30m", "10:30" (minutes and seconds), "2:00:00", "1-12:00:00" (days first). -1 for
 * anything else or more than 2^31 seconds, with `*seconds` unchanged. */
int duration_parse(const char *text, uint64_t *seconds);

/* The same in nanoseconds, also with fractions: "1.5", "50ms", "0.5h". */
int duration_parse_ns(const char *text, uint64_t *time_ns);

/* The same, but refuses 0. */
int duration_parse_some(const char *text, uint64_t *seconds);

/* The accepted forms, for errors. */
#define DURATION_ACCEPTED "seconds, 30m, 2h, 1h30m, 1d, M:S, H:M:S or D-H:M:S"
