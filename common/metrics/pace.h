/* SPDX-License-Identifier: MIT */
/* The rate of the latest half a minute, and what it promises of the end: a ring of what was done at the moments at
 * which somebody looked. Pure: the time comes in as a number. */
#pragma once

#include "common/metrics/progress.h"

#include <stddef.h>
#include <stdint.h>

/* Looks that are remembered, and the least time between two of them. */
#define PACE_LOOKS 31
#define PACE_GAP_S 1.0

struct pace_look {
    double at_s; /* of progress->elapsed_s */
    uint64_t done;
};

struct pace {
    struct pace_look looks[PACE_LOOKS]; /* the i-th, from 0, at i modulo PACE_LOOKS */
    size_t count;                       /* looks so far, also those that are forgotten */
};

/* The end as two rates promise it, in seconds from now. */
struct pace_band {
    double rate_per_s;          /* of the looks that are remembered; below 0: not known */
    double soonest_s, latest_s; /* below 0: not known, or no bound */
};

/* Notes what is done at this moment, unless the latest look was less than PACE_GAP_S ago. */
void pace_note(struct pace *pace, const struct progress *progress);

/* Says when the end is expected at the soonest and at the latest. It lies between what the mean rate of the whole run
 * promises and what the rate of the latest looks does, that of the latter two standard errors lower and higher: the
 * deviation of the rates from look to look over the square root of their number. Not known of a loop that grows, and
 * before there are three looks with something done between them. */
struct pace_band pace_foresee(const struct pace *pace, const struct progress *progress);
