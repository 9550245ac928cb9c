/* SPDX-License-Identifier: MIT */
/* Colour maps, drawn through a few colours of our own by smooth curves in Oklab (Ottosson 2020), a space in which equal
 * distances look equal. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct palette_stop {
    double at; /* 0 .. 1, ascending, the first 0 and the last 1 */
    uint8_t rgb[3];
};

/* For counts: night blue, sky, cream, amber, dark red. */
extern const struct palette_stop palette_counts[];
extern const size_t palette_counts_stops;

/* For measured values: lightness rises evenly from dark violet to light yellow. */
extern const struct palette_stop palette_values[];
extern const size_t palette_values_stops;

/* For pictures that are compared: from white to black. */
extern const struct palette_stop palette_greys[];
extern const size_t palette_greys_stops;

/* Fills `steps` >= 2 colours. */
void palette_fill(const struct palette_stop *stops, size_t count, uint8_t (*rgb)[3], size_t steps);
