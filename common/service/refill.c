/* SPDX-License-Identifier: MIT */
/* When a master requests its next refill: see refill.h. */
#include "common/service/refill.h"

#include <assert.h>

#define UNKNOWN UINT64_MAX

#define ROUND_TRIP_NS 50000

/* If a refill lasts longer than this many round trips, the low-water mark is 0. */
#define REFILL_OVER_ROUND_TRIP 50

void refills_init(struct refills *refills, unsigned workers, unsigned chunks, unsigned open_max, bool when_empty)
{
    *refills = (struct refills){
        .workers = workers,
        .size = (uint64_t)workers * chunks,
        .open_max = open_max,
        .when_empty = when_empty,
        .round_trip_ns = ROUND_TRIP_NS,
        .came_at_ns = UNKNOWN,
        .gap_ns = UNKNOWN,
    };
}

static void set_low_water_mark(struct refills *refills)
{
    refills->low_water_mark = 0;
    if (refills->gap_ns == UNKNOWN || refills->lasted_ns / REFILL_OVER_ROUND_TRIP >= refills->round_trip_ns)
        return;
    uint64_t most = refills->open_max * refills->size;
    uint64_t mark = refills->round_trip_ns * 3 / 2 / (refills->gap_ns > 0 ? refills->gap_ns : 1);
    refills->low_water_mark = mark < most ? mark : most;
}

/* Measures the time between two handed-out chunks, and smooths it. The time until each worker has its first chunk does
 * not count, because all ranks may start at once. If no time has passed since the last measurement, the chunks since
 * then count in the next measurement. */
void refills_measure_gap(struct refills *refills, uint64_t assigned, uint64_t now_ns)
{
    if (now_ns == refills->gap_started_ns)
        return;
    if (refills->gap_assigned >= refills->workers) {
        uint64_t gap_ns = (now_ns - refills->gap_started_ns) / (assigned - refills->gap_assigned);
        refills->gap_ns = refills->gap_ns == UNKNOWN ? gap_ns : (3 * refills->gap_ns + gap_ns) / 4;
    }
    refills->gap_started_ns = now_ns;
    refills->gap_assigned = assigned;
    set_low_water_mark(refills);
}

/* Notes that a refill was requested. The first refill arrives only after the speeds of the workers are known, so the
 * time for which it is open does not count as a round trip. */
void refills_ask(struct refills *refills, uint64_t now_ns)
{
    assert(refills->open < refills->open_max);
    unsigned last = (refills->first + refills->open++) % REFILLS_OPEN_FAR_MAX;
    refills->asked_at_ns[last] = refills->gap_started_ns > 0 ? now_ns : UNKNOWN;
}

/* Notes that a refill has arrived. If it was parked, it waited for work, so the time for which it was open does not
 * count as a round trip. When the first refill arrives, it is not known yet how long a refill lasts. */
void refills_take(struct refills *refills, uint64_t now_ns)
{
    assert(refills->open > 0);
    uint64_t asked_at_ns = refills->asked_at_ns[refills->first];
    if (!refills->parked && asked_at_ns != UNKNOWN)
        refills->round_trip_ns = (7 * refills->round_trip_ns + (now_ns - asked_at_ns)) / 8;
    refills->lasted_ns = refills->came_at_ns != UNKNOWN ? now_ns - refills->came_at_ns : 0;
    refills->came_at_ns = now_ns;
    refills->first = (refills->first + 1) % REFILLS_OPEN_FAR_MAX;
    refills->open--;
    refills->parked = false;
    set_low_water_mark(refills);
}
