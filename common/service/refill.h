/* SPDX-License-Identifier: MIT */
/* Refills of a task pool: in which order their chunks are cut, and when to ask for the next. A master asks its
 * supermaster by it, and so does a coordinator of a loop that the library shares.
 *
 * A refill is asked for early enough that no worker waits for it, and no earlier, because a chunk in one pool is out of
 * reach for the workers of the others.
 *
 * The low-water mark follows what is measured: the pool, and what is on its way to it, must last for one round trip to
 * whoever cuts. With one chunk handed out every `gap`, that is round_trip / gap chunks; half as many again are kept to
 * spare. A refill has one chunk for each worker, so that where chunks are shorter than the round trip several are open
 * at a time: as long as workers are kept waiting the gap is what the supply makes it, and each further refill shortens
 * it.
 *
 * The gap tells how fast chunks go, not for how long they will. Where equal chunks end together, the workers of a pool
 * ask one behind the other and then, with all of them busy, not at all for a long time: the gap within such a burst is
 * no rate at which the pool must be supplied. How long a refill lasts is what counts then, since in that time each
 * worker asks about once. Where that is so long that a round trip is below 2 % of it, the next refill is asked for by
 * the first request that finds the pool empty: a worker that waits then loses no more than that.
 *
 * The hierarchical techniques are published without any of this: a master asks for its next refill when it has handed
 * out the last chunk of its pool, and has one open at a time (`when_empty`). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Refills that are asked for and not answered. With one chunk for each worker in each, chunks may then be an eighth of
 * the round trip before a worker waits. */
#define REFILLS_OPEN_MAX 8

/* The same where whoever cuts is at the other end of a stream: a round trip there takes calls of the system, and
 * several times as long. */
#define REFILLS_OPEN_FAR_MAX 32

_Static_assert(REFILLS_OPEN_FAR_MAX % REFILLS_OPEN_MAX == 0, "the longer ring goes round with the shorter one");

/* A pool holds so many refills: those that may be open, asked for when as much again was there or wanted, and one to
 * spare. */
#define POOL_REFILLS(open_max) (2 * (open_max) + 1)

struct refills {
    unsigned workers;  /* workers that are served from the pool */
    uint64_t size;     /* chunks in a refill */
    unsigned open;     /* refills asked for and not answered */
    unsigned open_max; /* at most REFILLS_OPEN_FAR_MAX */
    bool when_empty;   /* the next refill is asked for when the pool is empty, whatever is measured */
    bool arriving;     /* some messages of the oldest refill are here, and more are on their way */
    bool parked;       /* the oldest refill waits for an answer, as nothing is free at present */
    unsigned first; /* place of the oldest refill in the ring `asked_at_ns`; modulo REFILLS_OPEN_MAX its place in a ring
                       of so many */
    uint64_t asked_at_ns[REFILLS_OPEN_FAR_MAX];
    uint64_t round_trip_ns; /* smoothed */
    uint64_t came_at_ns;    /* when the latest refill came; UINT64_MAX: none came yet */
    uint64_t lasted_ns;     /* time from the refill before the latest one to the latest; 0: not known */
    uint64_t gap_ns;        /* smoothed time between two chunks handed out; UINT64_MAX: not known */
    uint64_t gap_started_ns, gap_assigned;
    uint64_t low_water_mark; /* chunks that are to be in the pool or on their way, from the measured times */
};

/* Begins with no open refill and nothing measured. `chunks`: chunks for each worker in one refill. `open_max`:
 * REFILLS_OPEN_MAX, or REFILLS_OPEN_FAR_MAX. */
void refills_init(struct refills *refills, unsigned workers, unsigned chunks, unsigned open_max, bool when_empty);

/* Cuts a refill in its order, one chunk for each worker in turn: `cut` cuts the next one, for the `i`-th worker, and
 * keeps it; false: nothing is free. */
static inline void refill_cut(unsigned workers, uint64_t size, bool (*cut)(void *context, unsigned i), void *context)
{
    unsigned i = 0;
    for (uint64_t left = size; left > 0 && cut(context, i); left--)
        i = i + 1 < workers ? i + 1 : 0;
}

/* The gap is measured over so many chunks: refills_measure_gap() is to be told of the last of them. `assigned`: chunks
 * that were handed out so far. What comes between two messages of one refill is no such time. */
static inline bool refills_gap_is_over(const struct refills *refills, uint64_t assigned)
{
    uint64_t chunks = assigned - refills->gap_assigned;
    return !refills->arriving && chunks > 0 && (chunks >= refills->workers || chunks >= 8);
}
void refills_measure_gap(struct refills *refills, uint64_t assigned, uint64_t now_ns);

/* The next refill is to be asked for, with `have` chunks in the pool and `waiting` chunks asked for by workers that
 * wait. A pool that nothing has come to yet is asked for by its first worker. */
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

/* Notes that a refill is asked for; no more than `open_max` may be open. */
void refills_ask(struct refills *refills, uint64_t now_ns);

/* The last message of the oldest is here; one must be open. */
void refills_take(struct refills *refills, uint64_t now_ns);
