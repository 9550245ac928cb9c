/* SPDX-License-Identifier: MIT */
/* Colours for numbers: see colour.h. */
#include "common/results/colour.h"

#include "common/results/palette.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Histogram of distances from the smallest value: exact below 2^MANTISSA, then 2^MANTISSA bins per doubling. */
enum { MANTISSA = 12, BINS = (64 - MANTISSA + 1) << MANTISSA };

static size_t bin_of(uint64_t distance)
{
    if (distance >> MANTISSA == 0)
        return distance;
    int shift = 63 - __builtin_clzll(distance) - MANTISSA;
    return ((size_t)(shift + 1) << MANTISSA) + (size_t)((distance >> shift) & ((1u << MANTISSA) - 1));
}

static uint64_t bin_start(size_t bin)
{
    if (bin >> MANTISSA == 0)
        return bin;
    int shift = (int)(bin >> MANTISSA) - 1;
    return ((uint64_t)1 << MANTISSA | (bin & ((1u << MANTISSA) - 1))) << shift;
}

static bool is_real(enum hdss_type type)
{
    return type == HDSS_FLOAT32 || type == HDSS_FLOAT64;
}

/* XOR mask that maps signed values to unsigned ones in the same order. */
static uint64_t sign_shift(enum hdss_type type)
{
    return type == HDSS_INT32 || type == HDSS_INT64 ? (uint64_t)1 << 63 : 0;
}

static uint64_t integer_at(enum hdss_type type, const void *row, uint64_t i)
{
    switch (type) {
    case HDSS_UINT8: return ((const uint8_t *)row)[i];
    case HDSS_UINT16: return ((const uint16_t *)row)[i];
    case HDSS_UINT32: return ((const uint32_t *)row)[i];
    case HDSS_UINT64: return ((const uint64_t *)row)[i];
    case HDSS_INT32: return (uint64_t)(int64_t)((const int32_t *)row)[i] ^ sign_shift(type);
    default: return (uint64_t)((const int64_t *)row)[i] ^ sign_shift(type);
    }
}

static double colour_real_at(enum hdss_type type, const void *row, uint64_t i)
{
    return type == HDSS_FLOAT32 ? (double)((const float *)row)[i] : ((const double *)row)[i];
}

/* A value's colour mixes its rank among all values with its logarithm. Rank alone cuts smooth slopes into bands; the
 * logarithm alone leaves most of a picture in few colours. */
#define RANK_WEIGHT 0.4

int colours_init(struct colours *colours, const struct hdss_loop *loop)
{
    *colours = (struct colours){.type = loop->type, .lowest = UINT64_MAX, .has_full = loop->full_value != 0};
    colours->full = loop->full_value ^ sign_shift(loop->type);
    colours->nothing = sign_shift(loop->type);
    colours->from = INFINITY;
    colours->to = -INFINITY;
    colours->rank_weight = loop->dims == 3 ? 0 : RANK_WEIGHT;
    if (loop->dims == 3)
        palette_fill(palette_greys, palette_greys_stops, colours->map, COLOUR_STEPS);
    else if (is_real(loop->type))
        palette_fill(palette_values, palette_values_stops, colours->map, COLOUR_STEPS);
    else
        palette_fill(palette_counts, palette_counts_stops, colours->map, COLOUR_STEPS);
    if (is_real(loop->type))
        return 0;
    colours->bins = calloc(BINS, sizeof *colours->bins);
    return colours->bins == NULL ? -1 : 0;
}

void colours_fini(struct colours *colours)
{
    free(colours->bins);
}

/* True for values drawn black or as not computed. */
static bool is_special(const struct colours *colours, uint64_t value)
{
    return colours->has_full && (value == colours->full || value == colours->nothing);
}

void colours_see_range(struct colours *colours, const void *row, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (is_real(colours->type)) {
            double value = colour_real_at(colours->type, row, i);
            if (!isfinite(value))
                continue;
            colours->from = fmin(colours->from, value);
            colours->to = fmax(colours->to, value);
        } else {
            uint64_t value = integer_at(colours->type, row, i);
            if (is_special(colours, value))
                continue;
            colours->lowest = value < colours->lowest ? value : colours->lowest;
            colours->highest = value > colours->highest ? value : colours->highest;
        }
    }
}

bool colours_need_counts(const struct colours *colours)
{
    return colours->bins != NULL;
}

void colours_see_counts(struct colours *colours, const void *row, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t value = integer_at(colours->type, row, i);
        if (!is_special(colours, value))
            colours->bins[bin_of(value - colours->lowest)]++;
    }
}

/* Replaces the count of each bin by its colour step. */
void colours_settle(struct colours *colours)
{
    if (colours->bins == NULL || colours->lowest > colours->highest)
        return;
    double total = 0, below = 0, log_range = log1p((double)(colours->highest - colours->lowest));
    for (size_t bin = 0; bin < BINS; bin++)
        total += (double)colours->bins[bin];
    for (size_t bin = 0; bin < BINS; bin++) {
        double count = (double)colours->bins[bin], rank = (below + count / 2) / total, weight = colours->rank_weight;
        double place = log_range > 0 ? log1p((double)bin_start(bin)) / log_range : 0;
        below += count;
        colours->bins[bin] = (uint64_t)(fmin(1, weight * rank + (1 - weight) * place) * (COLOUR_STEPS - 1));
    }
}

static void paint_integer(const struct colours *colours, uint64_t value, uint8_t *rgb)
{
    static const uint8_t black[3] = {0, 0, 0}, not_computed[3] = {72, 72, 76};
    if (is_special(colours, value))
        memcpy(rgb, value == colours->nothing ? not_computed : black, 3);
    else
        memcpy(rgb, colours->map[colours->bins[bin_of(value - colours->lowest)]], 3);
}

static void paint_real(const struct colours *colours, double value, uint8_t *rgb)
{
    static const uint8_t no_number[3] = {128, 128, 128};
    double range = colours->to - colours->from;
    if (isnan(value)) {
        memcpy(rgb, no_number, 3);
        return;
    }
    double place = range > 0 ? (value - colours->from) / range : 0.5;
    size_t step = (size_t)(fmin(1, fmax(0, place)) * (COLOUR_STEPS - 1));
    memcpy(rgb, colours->map[step], 3);
}

void colours_paint(const struct colours *colours, const void *row, uint64_t count, uint8_t *rgb)
{
    for (uint64_t i = 0; i < count; i++, rgb += 3) {
        if (is_real(colours->type))
            paint_real(colours, colour_real_at(colours->type, row, i), rgb);
        else
            paint_integer(colours, integer_at(colours->type, row, i), rgb);
    }
}
