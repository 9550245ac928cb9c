/* SPDX-License-Identifier: MIT */
/* Computes the rate of the last half minute and the expected end of the run. Keeps a ring of samples of the
 * progress, called "looks". Pure: the time is a parameter. */
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

/* The rate of the last half minute, and the earliest and the latest expected end of the run, in seconds from now. A
 * negative value is unknown. A negative latest_s may also mean that the run might never end. */
struct pace_band {
    double rate_per_s;
    double soonest_s, latest_s;
};

/* Adds a look, if the last one was at least PACE_GAP_S seconds ago. */
void pace_note(struct pace *pace, const struct progress *progress);

/* Predicts three ends of the run, each from another rate. The first rate is the mean of the whole run. The other two
 * are the recent rate minus and plus two standard errors. The standard error is the standard deviation of the rates
 * between looks, divided by the square root of their number. soonest_s and latest_s are the earliest and the latest of
 * the three ends. The ends are unknown in four cases: if the loop grows, if it is complete, before the third look, and
 * while no mean rate is known. */
struct pace_band pace_foresee(const struct pace *pace, const struct progress *progress);
