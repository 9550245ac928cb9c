/* SPDX-License-Identifier: MIT */
/* The rate of the last half minute and the expected end of the run, from a ring of samples ("looks") of the progress.
 * Pure: the time is a parameter. */
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
    struct pace_look looks[PACE_LOOKS]; /* look i, counted from 0, is at index i modulo PACE_LOOKS */
    size_t count;
};

/* The expected end, in seconds from now; negative: unknown, or without bound. */
struct pace_band {
    double rate_per_s;
    double soonest_s, latest_s;
};

/* Adds a look unless the last one was less than PACE_GAP_S ago. */
void pace_note(struct pace *pace, const struct progress *progress);

/* The earliest and the latest end follow from the mean rate of the whole run, and from the recent rate minus and plus
 * two standard errors (the deviation of the rates between looks over the square root of their number). They are unknown
 * for a growing loop, and until there are three looks with progress between them. */
struct pace_band pace_foresee(const struct pace *pace, const struct progress *progress);
