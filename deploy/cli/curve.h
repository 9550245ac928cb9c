/* SPDX-License-Identifier: MIT */
/* Reduces the sizes of a series to the points of a line, in constant memory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The first 2^CURVE_EXACT_BITS chunks are drawn singly. After that each doubling of the step has 2^(CURVE_EXACT_BITS -
 * 1) groups, of which the first, least, greatest and last size are drawn: a group is narrower than a dot on linear and
 * logarithmic axes. */
enum { CURVE_EXACT_BITS = 11 };
#define CURVE_EXACT (1u << CURVE_EXACT_BITS)

/* The same for the chunks that may have a marker. */
enum { CURVE_MARK_BITS = 6, CURVE_MARKS = (1 << CURVE_MARK_BITS) + ((64 - CURVE_MARK_BITS) << (CURVE_MARK_BITS - 1)) };

struct curve_mark {
    uint64_t step, size;
};

struct curve {
    FILE *file; /* borrowed; gets a line "x y" per point */
    uint64_t chunks, least, most;
    bool grouped; /* different sizes were drawn as a range */
    struct {
        uint64_t step, first, least, most, last;
    } group;
    uint64_t drawn;
    struct curve_mark marks[CURVE_MARKS];
    unsigned mark_count;
};

/* Chunk i, from 1, covers i - 1/2 to i + 1/2 on the x axis. */
void curve_begin(struct curve *curve, FILE *file);
void curve_take(struct curve *curve, uint64_t size);
/* Adds `count` chunks of equal size in constant time. */
void curve_take_equal(struct curve *curve, uint64_t size, uint64_t count);
void curve_end(struct curve *curve);
