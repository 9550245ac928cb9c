/* SPDX-License-Identifier: MIT */
/* Refills of a task pool: in which order the chunks of a refill are cut, and when the next refill is requested. A
 * master uses this, and so does the coordinator of a loop that runs through the library (libhdss).
 *
 * A refill is requested so early that no worker waits. It is requested no earlier than that, because a chunk in one
 * pool cannot be given to workers of another pool.
 *
 * The low-water mark is calculated from measurements. The pool and the open refills must last for one round trip to the
 * process that cuts chunks. Let `gap` be the time between two handed-out chunks. Then round_trip / gap chunks are
 * needed, plus half that number as a reserve. A refill has one chunk per worker, or a multiple of that. So if chunks
 * are shorter than the round trip, several refills are open at a time. While workers wait, the gap depends on how fast
 * chunks arrive. Each further open refill makes chunks arrive faster and so shortens the gap.
 *
 * The gap alone can mislead. If chunks of equal size end together, the workers of a pool send their requests in a
 * burst. Then all are busy and send none for a long time. The gap within the burst does not tell how fast the pool must
 * be supplied. So the time that a refill lasts is measured too; in this time each worker sends about one request. If a
 * round trip is shorter than 2 % of that time, the low-water mark is 0. The next refill is then requested when a worker
 * finds the pool empty, and this worker loses at most these 2 %.
 *
 * The published hierarchical techniques have no low-water mark (`when_empty`). A master requests its next refill after
 * it has handed out the last chunk of its pool. It has one refill open at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of refills that are open at a time. With 8 open refills no worker waits unless chunks are shorter than
 * an eighth of the round trip. */
#define REFILLS_OPEN_MAX 8

/* Replaces REFILLS_OPEN_MAX if a stream connects the master with the process that cuts chunks, because the round trip
 * of a stream takes several times as long. */
#define REFILLS_OPEN_FAR_MAX 32

_Static_assert(REFILLS_OPEN_FAR_MAX % REFILLS_OPEN_MAX == 0, "the longer ring goes round with the shorter one");

/* Capacity of a pool, in refills. It is the sum of three numbers: the number of open refills; the same number again,
 * for refills that may have been in the pool when the open ones were requested; and one more. */
#define POOL_REFILLS(open_max) (2 * (open_max) + 1)

struct refills {
    unsigned workers;
    uint64_t size;
    unsigned open;
    unsigned open_max;
    /* if true, the next refill is requested only if the pool is empty, as in the published techniques */
    bool when_empty;
    bool arriving;
    bool parked; /* the oldest open refill waits, because no iterations are free at present */
    unsigned first;
    uint64_t asked_at_ns[REFILLS_OPEN_FAR_MAX];
    uint64_t round_trip_ns;
    uint64_t came_at_ns; /* time at which the latest refill arrived; UINT64_MAX: no refill has arrived */
    uint64_t lasted_ns;  /* time between the arrivals of the latest two refills; 0: unknown */
    uint64_t gap_ns;     /* smoothed time between two handed-out chunks; UINT64_MAX: unknown */
    uint64_t gap_started_ns, gap_assigned;
    uint64_t low_water_mark;
};

/* `open_max` must be REFILLS_OPEN_MAX or REFILLS_OPEN_FAR_MAX. */
void refills_init(struct refills *refills, unsigned workers, unsigned chunks, unsigned open_max, bool when_empty);

/* Calls `cut` for one worker after the other, until `size` chunks are cut. If `cut` returns false, no iterations are
 * free, and this function stops early. */
static inline void refill_cut(unsigned workers, uint64_t size, bool (*cut)(void *context, unsigned i), void *context)
{
    unsigned i = 0;
    for (uint64_t left = size; left > 0 && cut(context, i); left--)
        i = i + 1 < workers ? i + 1 : 0;
}

/* Returns true if enough chunks have been handed out to measure the gap; the caller must then call
 * refills_measure_gap(). `assigned`: how many chunks have been handed out so far. While a refill is arriving in several
 * messages, nothing is measured. */
static inline bool refills_gap_is_over(const struct refills *refills, uint64_t assigned)
{
    uint64_t chunks = assigned - refills->gap_assigned;
    return !refills->arriving && chunks > 0 && (chunks >= refills->workers || chunks >= 8);
}
void refills_measure_gap(struct refills *refills, uint64_t assigned, uint64_t now_ns);

/* Must the next refill be requested? `have`: chunks in the pool. `waiting`: chunks that waiting workers have requested.
 * The first refill is requested as soon as a worker waits. */
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
