/* SPDX-License-Identifier: MIT */
/* The sizes of a series as the points of a drawn line, in memory that does not grow with the series. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Exactness of the curve: the first 2^CURVE_EXACT_BITS chunks are drawn one by one. Behind them as many groups as half
 * of that go into each doubling of the step, of which the first, least, greatest and last size are drawn: on a linear
 * and on a logarithmic axis alike a group is narrower than a dot of the picture. */
enum { CURVE_EXACT_BITS = 11 };
#define CURVE_EXACT (1u << CURVE_EXACT_BITS)

/* Exactness for the chunks that a marker may stand on, likewise. */
enum { CURVE_MARK_BITS = 6, CURVE_MARKS = (1 << CURVE_MARK_BITS) + ((64 - CURVE_MARK_BITS) << (CURVE_MARK_BITS - 1)) };

struct curve_mark {
    uint64_t step, size;
};

struct curve {
    FILE *file; /* borrowed; receives the points, "x y" each */
    uint64_t chunks, least, most;
    bool grouped; /* sizes that differ have been drawn as a range */
    struct {
        uint64_t step, first, least, most, last;
    } group;
    uint64_t drawn; /* size of the last point */
    struct curve_mark marks[CURVE_MARKS];
    unsigned mark_count;
};

/* Chunk i, from 1, reaches from i - 1/2 to i + 1/2 on the x axis. */
void curve_begin(struct curve *curve, FILE *file);
void curve_take(struct curve *curve, uint64_t size);
/* Takes `size` `count` times, in time that does not grow with the count. */
void curve_take_equal(struct curve *curve, uint64_t size, uint64_t count);
void curve_end(struct curve *curve);
