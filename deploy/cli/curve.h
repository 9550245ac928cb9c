/* SPDX-License-Identifier: MIT */
/* Reduces the sizes of a series to the points of a line, in memory that does not grow. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The first 2^CURVE_EXACT_BITS chunks are drawn one by one. After them each doubling of the step has
 * 2^(CURVE_EXACT_BITS - 1) groups of chunks. Of each group only the first, least, greatest and last size are drawn. A
 * group is narrower than a dot, on linear and on logarithmic axes. */
enum { CURVE_EXACT_BITS = 11 };
#define CURVE_EXACT (1u << CURVE_EXACT_BITS)

/* Chunks are grouped in the same way for markers: the first chunk of each group may have a marker. */
enum { CURVE_MARK_BITS = 6, CURVE_MARKS = (1 << CURVE_MARK_BITS) + ((64 - CURVE_MARK_BITS) << (CURVE_MARK_BITS - 1)) };

struct curve_mark {
    uint64_t step, size;
};

struct curve {
    FILE *file; /* gets a line "x y" for each point; borrowed */
    uint64_t chunks, least, most;
    bool grouped;
    struct {
        uint64_t step, first, least, most, last;
    } group;
    uint64_t drawn;
    struct curve_mark marks[CURVE_MARKS];
    unsigned mark_count;
};

/* Chunk i, from 1, is drawn from i - 1/2 to i + 1/2 on the x axis. */
void curve_begin(struct curve *curve, FILE *file);
void curve_take(struct curve *curve, uint64_t size);
void curve_take_equal(struct curve *curve, uint64_t size, uint64_t count);
void curve_end(struct curve *curve);
