/* SPDX-License-Identifier: MIT */
/* The rate of the last half minute, and the expected end of the run: a ring of samples ("looks") of the progress. Pure:
 * the time is a parameter. */
#pragma once

#include "common/metrics/progress.h"

#include <stddef.h>
#include <stdint.h>

#define PACE_LOOKS 31
#define PACE_GAP_S 1.0

struct pace_look {
    double at_s;
    uint64_t done;
};

struct pace {
    struct pace_look looks[PACE_LOOKS]; /* look i, from 0, is at i modulo PACE_LOOKS */
    size_t count;
};

/* Expected end, in seconds from now; negative: unknown, or no bound. */
struct pace_band {
    double rate_per_s; /* over the ring; negative: unknown */
    double soonest_s, latest_s;
};

/* Adds a look unless the last one was less than PACE_GAP_S ago. */
void pace_note(struct pace *pace, const struct progress *progress);

/* Earliest and latest expected end, from the mean rate of the whole run and from the recent rate minus and plus two
 * standard errors (deviation of the rates between looks over the square root of their number). Unknown for a growing
 * loop, and before there are three looks with progress between them. */
struct pace_band pace_foresee(const struct pace *pace, const struct progress *progress);
