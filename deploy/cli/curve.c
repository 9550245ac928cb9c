/* SPDX-License-Identifier: MIT */
/* A series of sizes as points of a line: see curve.h. A point is written only if the size changes. */
#include "deploy/cli/curve.h"

#include <inttypes.h>

void curve_begin(struct curve *curve, FILE *file)
{
    *curve = (struct curve){.file = file};
}

/* Returns a mask of the low bits that are 0 in the first step of a group. So a step begins a group if (step & mask) is
 * 0. Each of the first 2^bits chunks is a group of its own. After them each doubling of the step has 2^(bits - 1)
 * groups. */
static uint64_t group_mask(uint64_t step, int bits)
{
    int shift = step >> bits == 0 ? 0 : 64 - __builtin_clzll(step) - bits;
    return (UINT64_C(1) << shift) - 1;
}

static bool group_begins(uint64_t step, int bits)
{
    return (step & group_mask(step, bits)) == 0;
}

static void point(struct curve *curve, uint64_t step, uint64_t size)
{
    if (size != curve->drawn)
        fprintf(curve->file, "%" PRIu64 ".5 %" PRIu64 "\n", step, size);
    curve->drawn = size;
}

static void curve_write_group(struct curve *curve)
{
    if (curve->chunks == 0)
        return;
    bool rises = curve->group.last > curve->group.first;
    point(curve, curve->group.step, curve->group.first);
    point(curve, curve->group.step, rises ? curve->group.least : curve->group.most);
    point(curve, curve->group.step, rises ? curve->group.most : curve->group.least);
    point(curve, curve->group.step, curve->group.last);
    curve->grouped |= curve->group.least != curve->group.most;
}

static void begin_group(struct curve *curve, uint64_t step, uint64_t size)
{
    curve_write_group(curve);
    curve->group.step = step;
    curve->group.first = curve->group.least = curve->group.most = size;
}

void curve_take(struct curve *curve, uint64_t size)
{
    uint64_t step = curve->chunks;
    if (group_begins(step, CURVE_EXACT_BITS))
        begin_group(curve, step, size);
    if (size < curve->group.least)
        curve->group.least = size;
    if (size > curve->group.most)
        curve->group.most = size;
    curve->group.last = size;
    if (group_begins(step, CURVE_MARK_BITS))
        curve->marks[curve->mark_count++] = (struct curve_mark){step, size};
    if (step == 0 || size < curve->least)
        curve->least = size;
    if (size > curve->most)
        curve->most = size;
    curve->chunks++;
}

/* Takes `count` chunks of equal size. Only the first one and those that begin a group are really taken: the others
 * would not change the line or the markers. */
void curve_take_equal(struct curve *curve, uint64_t size, uint64_t count)
{
    for (uint64_t end = curve->chunks + count; curve->chunks < end;) {
        curve_take(curve, size);
        uint64_t mask = group_mask(curve->chunks, CURVE_EXACT_BITS), next = (curve->chunks + mask) & ~mask;
        curve->chunks = next < end ? next : end;
    }
}

void curve_end(struct curve *curve)
{
    curve_write_group(curve);
    if (curve->chunks > 0)
        fprintf(curve->file, "%" PRIu64 ".5 %" PRIu64 "\n", curve->chunks, curve->group.last);
}
