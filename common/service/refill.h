/* SPDX-License-Identifier: MIT */
/* Refills of a task pool: in which order their chunks are cut, and when the next refill is requested. Used by a master,
 * and by the coordinator of a loop that runs through the library (libhdss).
 *
 * A refill is requested early enough that no worker waits, and no earlier, because a chunk in one pool is out of reach
 * of the other pools' workers.
 *
 * The low-water mark is calculated from measurements: the pool and the open refills must last for one round trip to the
 * process that cuts chunks. If the time between two chunks handed out is `gap`, round_trip / gap chunks are needed,
 * plus half as many in reserve. A refill has one chunk per worker. So if chunks are shorter than the round trip,
 * several refills are open at a time: while workers wait, the supply of chunks limits the gap, and each further open
 * refill shortens the gap.
 *
 * The gap alone can mislead. If chunks of equal size end together, the workers of a pool send their requests one after
 * the other, and then none for a long time, because all are busy. The gap within such a burst is not the rate at which
 * the pool must be supplied. So the time that a refill lasts is measured too; in this time each worker sends about one
 * request. If a round trip is shorter than 2 % of that time, the low-water mark is 0: the next refill is requested when
 * a worker finds the pool empty, and that worker loses at most these 2 %.
 *
 * The published hierarchical techniques have no low-water mark (`when_empty`): a master requests its next refill after
 * it has handed out the last chunk of its pool, and has one refill open at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of refills that are open at a time. With 8 open refills no worker waits unless chunks are shorter than
 * an eighth of the round trip. */
#define REFILLS_OPEN_MAX 8

/* The same if the process that cuts chunks is reached through a stream, whose round trip takes several times as
 * long. */
#define REFILLS_OPEN_FAR_MAX 32

_Static_assert(REFILLS_OPEN_FAR_MAX % REFILLS_OPEN_MAX == 0, "the longer ring goes round with the shorter one");

/* Capacity of a pool, in refills: the open refills; as many refills that may have been in the pool when the open ones
 * were requested; and one more. */
#define POOL_REFILLS(open_max) (2 * (open_max) + 1)

struct refills {
    unsigned workers;
    uint64_t size;
    unsigned open;
    unsigned open_max;
    bool when_empty; /* request the next refill only if the pool is empty, as the published techniques do */
    bool arriving;
    bool parked; /* the oldest open refill waits, because no iterations are free at present */
    unsigned first;
    uint64_t asked_at_ns[REFILLS_OPEN_FAR_MAX];
    uint64_t round_trip_ns;
    uint64_t came_at_ns; /* when the latest refill arrived; UINT64_MAX: none has arrived */
    uint64_t lasted_ns;  /* time between the latest two refills; 0: unknown */
    uint64_t gap_ns;     /* smoothed time between two chunks handed out; UINT64_MAX: unknown */
    uint64_t gap_started_ns, gap_assigned;
    uint64_t low_water_mark;
};

/* `open_max` must be REFILLS_OPEN_MAX or REFILLS_OPEN_FAR_MAX. */
void refills_init(struct refills *refills, unsigned workers, unsigned chunks, unsigned open_max, bool when_empty);

/* Calls `cut` for the workers in turn, until `size` chunks are cut, or `cut` returns false because no iterations are
 * free. */
static inline void refill_cut(unsigned workers, uint64_t size, bool (*cut)(void *context, unsigned i), void *context)
{
    unsigned i = 0;
    for (uint64_t left = size; left > 0 && cut(context, i); left--)
        i = i + 1 < workers ? i + 1 : 0;
}

/* Have enough chunks been handed out to measure the gap? If so, the caller must call refills_measure_gap(). `assigned`:
 * chunks handed out so far. Nothing is measured while only a part of a refill's messages has arrived. */
static inline bool refills_gap_is_over(const struct refills *refills, uint64_t assigned)
{
    uint64_t chunks = assigned - refills->gap_assigned;
    return !refills->arriving && chunks > 0 && (chunks >= refills->workers || chunks >= 8);
}
void refills_measure_gap(struct refills *refills, uint64_t assigned, uint64_t now_ns);

/* Must the next refill be requested? `have`: chunks in the pool; `waiting`: chunks that waiting workers have requested.
 * The first refill is requested when the first worker waits. */
static inline bool refills_are_wanted(const struct refills *refills, uint64_t have, uint64_t waiting)
{
    uint64_t mark = refills->low_water_mark;
    if (refills->parked || refills->open == refills->open_max)
        return false;
    have += refills->open * refills->size;
    if (refills->when_empty)
        return have == 0 && (waiting > 0 || refills->came_at_ns != UINT64_MAX);
    return have == 0 ? waiting > 0 || mark > 0 : mark > 0 && have <= mark + waiting;
}

void refills_ask(struct refills *refills, uint64_t now_ns);

void refills_take(struct refills *refills, uint64_t now_ns);
