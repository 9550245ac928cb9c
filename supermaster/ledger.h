/* SPDX-License-Identifier: MIT */
/* The ledger: every iteration of the loop is in exactly one of free, granted (to whom), done, or failed (given up).
 *
 * Some are held back beside these where iterations wait for others: see dependencies.c.
 *
 * A technique says how many iterations, the ledger says which. Memory is O(holders + free ranges + chunks out),
 * never O(iterations): what is done is what is neither free nor granted. */
#pragma once

#include "common/util/ranges.h"

struct ledger {
    struct range loop; /* the whole loop, as far as it is known */
    bool grows;        /* more iterations may come behind it: see ledger_grow() */
    struct ranges free;
    struct ranges failed;
    uint64_t held;          /* iterations that are held back: in no set */
    struct ranges *granted; /* granted ranges, one set per holder; owned */
    unsigned holders, room; /* room: for so many holders */
    uint64_t done;          /* iterations committed */
    uint64_t duplicates;    /* results that came for ranges already committed */
    uint64_t digest;        /* sum over the committed ranges */
};

/* The fate of a result in the ledger. */
enum ledger_commit {
    LEDGER_COMMITTED = 0, /* new: counted, its digest added */
    LEDGER_DUPLICATE = 1, /* the whole range was done before: counted as duplicate, dropped */
    LEDGER_MISMATCH = 2,  /* partly done, or outside the loop: not a range that was ever granted; nothing changed */
};

/* A loop of [first, first + count), all free, and `holders` who can be granted ranges. -1 when memory is out. */
int ledger_init(struct ledger *ledger, uint64_t first, uint64_t count, unsigned holders);
void ledger_fini(struct ledger *ledger);

/* Makes room for so many holders, no fewer than there was room for. -1 when memory is out (nothing changed). */
int ledger_reserve(struct ledger *ledger, unsigned holders);

/* There is another holder, in the place of the last one so far, which is behind it from now on; there is room for it.
 */
void ledger_add_holder(struct ledger *ledger);

/* Takes what an earlier run has done out of what is free, before anything is granted: `done` lies inside the loop, and
 * `digest` is what it adds to the checksum. -1 when memory is out. */
int ledger_restore(struct ledger *ledger, const struct ranges *done, uint64_t digest);

/* The loop has `count` iterations by now, no fewer than before; the new ones are free. -1 when memory is out (nothing
 * changed). */
int ledger_grow(struct ledger *ledger, uint64_t count);

/* Holds back, before anything is granted, all free iterations of which `is_held` says so. -1 when memory is out. */
int ledger_hold_back(struct ledger *ledger, bool (*is_held)(const void *context, uint64_t iteration),
                     const void *context);

/* An iteration that is held back is free from now on, or given up. -1 when memory is out (nothing changed). */
int ledger_let_go(struct ledger *ledger, uint64_t iteration);
int ledger_give_up_held(struct ledger *ledger, uint64_t iteration);

/* Grants the lowest free range to `holder`, at most `want` iterations; it may be shorter, since a grant is
 * contiguous. 1 with `*range` set, 0 when nothing is free, -1 when memory is out (nothing changed). */
int ledger_grant(struct ledger *ledger, unsigned holder, uint64_t want, struct range *range);

/* Grants exactly this range to `holder`, if all of it is free: 1; 0 where it is not, -1 when memory is out (nothing
 * changed). */
int ledger_claim(struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count);

/* Puts a range that `holder` was granted back among the free. -1 when memory is out. */
int ledger_return(struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count);

/* Gives up what of the range is neither done nor failed, whoever holds it, and adds that to the set `given_up`. -1 when
 * memory is out: what is in the set is given up all the same. */
int ledger_give_up(struct ledger *ledger, uint64_t first, uint64_t count, struct ranges *given_up);

/* Takes the result of a range from `holder`. Who holds it now does not matter: the first result wins. Returns an
 * enum ledger_commit, or -1 when memory is out (nothing changed). */
int ledger_commit(struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count, uint64_t digest);

/* Puts all that `holder` has not finished back among the free; `*released` receives the number of iterations. -1
 * when memory is out (some of it may be free already, the rest is still granted). */
int ledger_release(struct ledger *ledger, unsigned holder, uint64_t *released);

/* Stops the program where an invariant of the ledger does not hold. It takes the longer the more holders have ranges.
 */
void ledger_check(const struct ledger *ledger);

/* True when no iteration is left to be computed, and none will come. */
static inline bool ledger_is_complete(const struct ledger *ledger)
{
    return !ledger->grows && ledger->done + ranges_total(&ledger->failed) == ledger->loop.count;
}
