/* SPDX-License-Identifier: MIT */
/* Colours for numbers.
 *
 * The colour of an integer depends on its rank among all values and on its logarithm, so that every part of a picture
 * shows detail. If the kernel declares a full value (full_value), that value is black. Then 0 means "not computed" and
 * is dark grey. Reals are mapped linearly to colours that look evenly spaced; NaN is grey.
 *
 * Three-dimensional results are a series of pictures. All pictures have the same grey scale, so that they can be
 * compared: the smallest value is white and the largest value is black. The scale is logarithmic for integers and
 * linear for reals. */
#pragma once

#include "hdss/kernel.h"

#include <stdbool.h>
#include <stdint.h>

#define COLOUR_STEPS 4096

struct colours {
    enum hdss_type type;
    uint8_t map[COLOUR_STEPS][3];
    /* The members up to `bins` are used for integers. Integers are compared by the unsigned values that integer_at()
     * returns. `from` and `to` are used for reals. */
    bool has_full;
    double rank_weight;
    uint64_t full, nothing;
    uint64_t lowest, highest;
    uint64_t *bins; /* histogram; colours_settle() replaces it by the colour steps; owned */
    double from, to;
};

int colours_init(struct colours *colours, const struct hdss_loop *loop);
void colours_fini(struct colours *colours);

/* Two passes over all values. colours_see_range() is the first pass. If colours_need_counts() returns true,
 * colours_see_counts() is the second pass. After the passes, call colours_settle(), and then colours_paint(), which
 * writes the red, green and blue of each value. */
void colours_see_range(struct colours *colours, const void *row, uint64_t count);

void colours_see_counts(struct colours *colours, const void *row, uint64_t count);
bool colours_need_counts(const struct colours *colours);

void colours_settle(struct colours *colours);

void colours_paint(const struct colours *colours, const void *row, uint64_t count, uint8_t *rgb);
