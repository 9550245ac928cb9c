/* SPDX-License-Identifier: MIT */
/* Colour maps: smooth curves through a few colours in Oklab (Ottosson 2020), in which equal distances look equal. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct palette_stop {
    double at; /* 0 .. 1, ascending, from 0 to 1 */
    uint8_t rgb[3];
};

/* For counts: night blue, sky, cream, amber, dark red. */
extern const struct palette_stop palette_counts[];
extern const size_t palette_counts_stops;

/* For measurements: lightness rises evenly from dark violet to light yellow. */
extern const struct palette_stop palette_values[];
extern const size_t palette_values_stops;

/* For comparison of pictures: white to black. */
extern const struct palette_stop palette_greys[];
extern const size_t palette_greys_stops;

/* Fills `steps` >= 2 colours. */
void palette_fill(const struct palette_stop *stops, size_t count, uint8_t (*rgb)[3], size_t steps);
