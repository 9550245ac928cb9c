/* SPDX-License-Identifier: MIT */
/* Refills of a task pool: in which order their chunks are cut, and when the next refill is requested. Used by a master,
 * and by the coordinator of a loop that is shared through the library.
 *
 * A refill is requested early enough that no worker waits, and no earlier, because a chunk in one pool is out of reach
 * of the other pools' workers.
 *
 * The low-water mark follows measurements: the pool and the open refills must last for one round trip to the process
 * that cuts chunks. If a chunk is handed out every `gap`, that is round_trip / gap chunks, plus half as many in
 * reserve. A refill has one chunk per worker, so if chunks are shorter than the round trip several refills are open at
 * a time: while workers wait, the supply limits the gap, and each further refill shortens it.
 *
 * The gap tells how fast chunks are handed out, but not for how long. If equal chunks end together, the workers of a
 * pool ask one after the other and then, all busy, not at all for a long time; the gap within such a burst is not the
 * rate at which the pool must be supplied. Then the time that a refill lasts counts, in which each worker asks about
 * once. If a round trip is below 2 % of that time, the next refill is requested by the first worker that finds the pool
 * empty, which loses no more than these 2 %.
 *
 * The published hierarchical techniques have none of this (`when_empty`): a master requests its next refill after
 * handing out the last chunk of its pool, and has one open at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of open refills. With 8 of them no worker waits unless chunks are shorter than an eighth of the round
 * trip. */
#define REFILLS_OPEN_MAX 8

/* The same if the process that cuts chunks is reached through a stream, whose round trip is several times as long. */
#define REFILLS_OPEN_FAR_MAX 32

_Static_assert(REFILLS_OPEN_FAR_MAX % REFILLS_OPEN_MAX == 0, "the longer ring goes round with the shorter one");

/* Room of a pool, in refills: the open refills, as many that the pool still held when those were requested, and one
 * more. */
#define POOL_REFILLS(open_max) (2 * (open_max) + 1)

struct refills {
    unsigned workers;
    uint64_t size;
    unsigned open;
    unsigned open_max;
    bool when_empty; /* request the next refill only if the pool is empty, as published */
    bool arriving;
    bool parked; /* the oldest refill waits because nothing is free at present */
    unsigned first;
    uint64_t asked_at_ns[REFILLS_OPEN_FAR_MAX];
    uint64_t round_trip_ns;
    uint64_t came_at_ns; /* when the latest refill arrived; UINT64_MAX: none has arrived */
    uint64_t lasted_ns;  /* time between the latest two refills; 0: unknown */
    uint64_t gap_ns;     /* smoothed time between two chunks handed out; UINT64_MAX: unknown */
    uint64_t gap_started_ns, gap_assigned;
    uint64_t low_water_mark;
};

/* `open_max`: REFILLS_OPEN_MAX or REFILLS_OPEN_FAR_MAX. */
void refills_init(struct refills *refills, unsigned workers, unsigned chunks, unsigned open_max, bool when_empty);

/* Calls `cut` for one worker after the other, in turn, until `size` chunks are cut or it returns false because nothing
 * is free. */
static inline void refill_cut(unsigned workers, uint64_t size, bool (*cut)(void *context, unsigned i), void *context)
{
    unsigned i = 0;
    for (uint64_t left = size; left > 0 && cut(context, i); left--)
        i = i + 1 < workers ? i + 1 : 0;
}

/* If it returns true, the caller must call refills_measure_gap(). `assigned`: chunks handed out so far. The time
 * between two messages of one refill does not count. */
static inline bool refills_gap_is_over(const struct refills *refills, uint64_t assigned)
{
    uint64_t chunks = assigned - refills->gap_assigned;
    return !refills->arriving && chunks > 0 && (chunks >= refills->workers || chunks >= 8);
}
void refills_measure_gap(struct refills *refills, uint64_t assigned, uint64_t now_ns);

/* Must the next refill be requested? `have`: chunks in the pool; `waiting`: chunks that waiting workers have requested.
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
