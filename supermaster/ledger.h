/* SPDX-License-Identifier: MIT */
/* The ledger: every iteration of the loop is in exactly one state: free, granted (to one holder), done, failed (given
 * up), or held back because it waits for others (see dependencies.c).
 *
 * A technique decides how many iterations, the ledger which. Memory is O(holders + free ranges + unfinished chunks),
 * not O(iterations): done iterations are stored only as a count. */
#pragma once

#include "common/util/ranges.h"

/* Where grants begin, in ascending order. Grants that have ended stay for a while. */
struct granted_index {
    struct granted_at {
        uint64_t first;
        unsigned holder;
    } * items; /* [count]; owned; NULL: there is no index */
    size_t count, capacity;
};

struct ledger {
    struct range loop;
    bool grows;
    struct ranges free;
    struct ranges failed;
    struct range given_back; /* the shortest range that contains all iterations that were granted and freed again */
    uint64_t held;
    struct ranges *granted;
    unsigned holders, room;
    /* Built if there are many holders and a result comes from a rank that no longer holds its iterations. */
    struct granted_index index;
    uint64_t done;
    uint64_t duplicates;
    uint64_t digest;
};

enum ledger_commit {
    LEDGER_COMMITTED = 0,
    LEDGER_GIVEN_BACK = 1, /* like COMMITTED, but a part was free: its holder had returned it or was lost */
    LEDGER_DUPLICATE = 2,  /* the whole range was done before; nothing changed except `duplicates` */
    LEDGER_MISMATCH = 3,   /* the range is partly done, outside the loop, or was never granted; nothing changed */
};

int ledger_init(struct ledger *ledger, uint64_t first, uint64_t count, unsigned holders);
void ledger_fini(struct ledger *ledger);

int ledger_reserve(struct ledger *ledger, unsigned holders);

/* Inserts a holder before the last one. There must be room. */
void ledger_add_holder(struct ledger *ledger);

/* Marks as done what an earlier run has done. Must be called before any grant. `digest` is the checksum of `done`. */
int ledger_restore(struct ledger *ledger, const struct ranges *done, uint64_t digest);

/* Sets the number of iterations, which must not shrink; the new ones are free. -1: out of memory, nothing changed. */
int ledger_grow(struct ledger *ledger, uint64_t count);

int ledger_hold_back(struct ledger *ledger, bool (*is_held)(const void *context, uint64_t iteration),
                     const void *context);

/* Free or give up an iteration that is held back. -1: out of memory, nothing changed. */
int ledger_let_go(struct ledger *ledger, uint64_t iteration);
int ledger_give_up_held(struct ledger *ledger, uint64_t iteration);

/* Grants up to `want` contiguous iterations from the lowest free one on. Returns 1, 0 if nothing is free, or -1 if
 * memory runs out; then nothing has changed. */
int ledger_grant(struct ledger *ledger, unsigned holder, uint64_t want, struct range *range);

/* Grants exactly this range if all of it is free. Returns 1, 0 if it is not free, or -1 if memory runs out; then
 * nothing has changed. */
int ledger_claim(struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count);

int ledger_return(struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count);

/* Gives up those iterations of the range that are neither done nor failed, whichever holder has them, and adds them to
 * `given_up`. If memory runs out, returns -1; the iterations added to `given_up` until then remain given up. */
int ledger_give_up(struct ledger *ledger, uint64_t first, uint64_t count, struct ranges *given_up);

/* Takes a result from `holder`. The current holder does not matter: the first result counts. Returns an enum
 * ledger_commit, or -1 if memory runs out; then nothing has changed. */
int ledger_commit(struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count, uint64_t digest);

/* Frees all iterations that are granted to `holder`, and sets `*released` to their number. -1: out of memory, some may
 * remain granted. */
int ledger_release(struct ledger *ledger, unsigned holder, uint64_t *released);

void ledger_check(const struct ledger *ledger);

static inline bool ledger_is_complete(const struct ledger *ledger)
{
    return !ledger->grows && ledger->done + ranges_total(&ledger->failed) == ledger->loop.count;
}
