/* SPDX-License-Identifier: MIT */
/* From numbers to colours that a person likes to look at.
 *
 * Integers are spread over the map by how often they occur and by their logarithm, so that detail shows wherever there
 * is some; the value declared full is black, and 0 beside it, "not computed", dark grey. Reals go from the smallest to
 * the largest value over a map of even perceived steps; what is no number is grey.
 *
 * Pictures of a series, that is of three-dimensional results, are all drawn by one scale of greys, so that they can be
 * compared: white is the smallest value, black the largest, and between them the logarithm of integers and reals as
 * they are. */
#pragma once

#include "hdss/kernel.h"

#include <stdbool.h>
#include <stdint.h>

#define COLOUR_STEPS 4096

struct colours {
    enum hdss_type type;
    uint8_t map[COLOUR_STEPS][3];
    /* for integers, all of them unsigned after integer_at() */
    bool has_full;
    double rank_weight;     /* see colours_settle() */
    uint64_t full, nothing; /* the values drawn black and "not computed" */
    uint64_t lowest, highest;
    uint64_t *bins; /* owned: number of values in each bin, later the step of each */
    /* for reals */
    double from, to;
};

/* -1 when memory is out. */
int colours_init(struct colours *colours, const struct hdss_loop *loop);
void colours_fini(struct colours *colours);

/* First pass over all rows: the range. */
void colours_see_range(struct colours *colours, const void *row, uint64_t count);

/* Second pass over all rows: how often each value occurs. Not needed for reals. */
void colours_see_counts(struct colours *colours, const void *row, uint64_t count);
bool colours_need_counts(const struct colours *colours);

/* To be called between the second pass and the third. */
void colours_settle(struct colours *colours);

/* Third pass: three bytes (red, green, blue) for each value. */
void colours_paint(const struct colours *colours, const void *row, uint64_t count, uint8_t *rgb);
