/* A series as the points of a line: see curve.h. A point is written only where the size changes. */
#include "deploy/cli/curve.h"

#include <inttypes.h>

void curve_begin(struct curve *curve, FILE *file)
{
    *curve = (struct curve){.file = file};
}

/* Does a group begin at `step`, with 2^(bits - 1) groups in each doubling and 2^bits single chunks before? */
static bool group_begins(uint64_t step, int bits)
{
    int shift = step >> bits == 0 ? 0 : 64 - __builtin_clzll(step) - bits;
    return (step & ((UINT64_C(1) << shift) - 1)) == 0;
}

static void point(struct curve *curve, uint64_t step, uint64_t size)
{
    if (size != curve->drawn) /* no size is 0 */
        fprintf(curve->file, "%" PRIu64 ".5 %" PRIu64 "\n", step, size);
    curve->drawn = size;
}

static void write_group(struct curve *curve)
{
    if (curve->chunks == 0)
        return;
    bool rises = curve->group.last > curve->group.first; /* then fewer points do, the other way round */
    point(curve, curve->group.step, curve->group.first);
    point(curve, curve->group.step, rises ? curve->group.least : curve->group.most);
    point(curve, curve->group.step, rises ? curve->group.most : curve->group.least);
    point(curve, curve->group.step, curve->group.last);
    curve->grouped |= curve->group.least != curve->group.most;
}

static void begin_group(struct curve *curve, uint64_t step, uint64_t size)
{
    write_group(curve);
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

void curve_end(struct curve *curve)
{
    write_group(curve);
    if (curve->chunks > 0)
        fprintf(curve->file, "%" PRIu64 ".5 %" PRIu64 "\n", curve->chunks, curve->group.last);
}
