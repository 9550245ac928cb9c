/* SPDX-License-Identifier: MIT */
/* Colours for numbers.
 *
 * The colour of an integer depends on its rank among all values and on its logarithm, so that detail is visible
 * everywhere. If the kernel declares a full value (full_value), that value is black; 0 then means "not computed" and is
 * dark grey. Reals are mapped linearly, from the smallest to the largest, to colours with perceptually even steps; NaN
 * is grey.
 *
 * Three-dimensional results are a series of pictures that share one grey scale, so that they can be compared: white is
 * the smallest value, black the largest, by logarithm for integers and linearly for reals. */
#pragma once

#include "hdss/kernel.h"

#include <stdbool.h>
#include <stdint.h>

#define COLOUR_STEPS 4096

struct colours {
    enum hdss_type type;
    uint8_t map[COLOUR_STEPS][3];
    /* The members up to `bins` are for integers, which are compared in the unsigned order of integer_at(). `from` and
     * `to` are for reals. */
    bool has_full;
    double rank_weight;
    uint64_t full, nothing;
    uint64_t lowest, highest;
    uint64_t *bins; /* histogram; after colours_settle() it has the colour steps; owned */
    double from, to;
};

int colours_init(struct colours *colours, const struct hdss_loop *loop);
void colours_fini(struct colours *colours);

/* First pass over all values. The further steps are colours_see_counts() (second pass, only if colours_need_counts()),
 * colours_settle(), and colours_paint(), which writes red, green and blue of each value. */
void colours_see_range(struct colours *colours, const void *row, uint64_t count);

void colours_see_counts(struct colours *colours, const void *row, uint64_t count);
bool colours_need_counts(const struct colours *colours);

void colours_settle(struct colours *colours);

void colours_paint(const struct colours *colours, const void *row, uint64_t count, uint8_t *rgb);
