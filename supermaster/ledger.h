/* SPDX-License-Identifier: MIT */
/* The ledger: each iteration of the loop is in exactly one state. It is free, granted (to one holder), done, failed
 * (given up), or held back because it waits for others (see dependencies.c).
 *
 * A technique decides how many iterations are granted, and the ledger decides which ones. Memory is O(holders + free
 * ranges + unfinished chunks), not O(iterations): for done iterations only their number is stored. */
#pragma once

#include "common/util/ranges.h"

/* The first iterations of grants, in ascending order, with their holders. Grants that have ended stay in the index
 * until it is rebuilt. */
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
    /* the shortest range that contains all iterations that became free again after they were granted */
    struct range given_back;
    uint64_t held;
    struct ranges *granted;
    unsigned holders, room;
    /* Built only if it is needed, that is, if there are many holders and a result comes from a rank that no longer
     * holds the iterations. */
    struct granted_index index;
    uint64_t done;
    uint64_t duplicates;
    uint64_t digest;
};

enum ledger_commit {
    LEDGER_COMMITTED = 0,
    /* like LEDGER_COMMITTED, but a part of the range was free again: its holder had returned it or was lost */
    LEDGER_GIVEN_BACK = 1,
    LEDGER_DUPLICATE = 2, /* the whole range was done before; only `duplicates` has changed */
    /* a part of the range is already done, is outside the loop, or was never granted; nothing has changed */
    LEDGER_MISMATCH = 3,
};

int ledger_init(struct ledger *ledger, uint64_t first, uint64_t count, unsigned holders);
void ledger_fini(struct ledger *ledger);

int ledger_reserve(struct ledger *ledger, unsigned holders);

/* Inserts a holder before the last one. ledger_reserve() must have made room for it. */
void ledger_add_holder(struct ledger *ledger);

/* Marks all iterations of `done` as done, because an earlier run has done them. Must be called before any grant.
 * `digest`: the digest of their results. */
int ledger_restore(struct ledger *ledger, const struct ranges *done, uint64_t digest);

/* Sets the number of iterations, which must not become smaller. New iterations are free. Returns -1 if memory runs out;
 * then nothing has changed. */
int ledger_grow(struct ledger *ledger, uint64_t count);

int ledger_hold_back(struct ledger *ledger, bool (*is_held)(const void *context, uint64_t iteration),
                     const void *context);

/* These functions free or give up an iteration that is held back. They return -1 if memory runs out; then nothing has
 * changed. */
int ledger_let_go(struct ledger *ledger, uint64_t iteration);
int ledger_give_up_held(struct ledger *ledger, uint64_t iteration);

/* Grants up to `want` contiguous iterations, beginning with the lowest free one. Returns 1, 0 if no iteration is free,
 * or -1 if memory runs out; then nothing has changed. */
int ledger_grant(struct ledger *ledger, unsigned holder, uint64_t want, struct range *range);

/* Grants exactly this range. Returns 1, 0 if a part of it is not free, or -1 if memory runs out. After 0 and -1 nothing
 * has changed. */
int ledger_claim(struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count);

int ledger_return(struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count);

/* Gives up those iterations of the range that are neither done nor failed, whichever holder has them. Adds them to
 * `given_up`. If memory runs out, returns -1; then only the iterations that were added to `given_up` are given up. */
int ledger_give_up(struct ledger *ledger, uint64_t first, uint64_t count, struct ranges *given_up);

/* Takes a result from `holder`. The first result for an iteration counts, even if another holder has the iteration now.
 * Returns an enum ledger_commit, or -1 if memory runs out; then nothing has changed. */
int ledger_commit(struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count, uint64_t digest);

/* Frees all iterations that are granted to `holder`, and sets `*released` to their number. Returns -1 if memory runs
 * out; then some of them may remain granted. */
int ledger_release(struct ledger *ledger, unsigned holder, uint64_t *released);

void ledger_check(const struct ledger *ledger);

static inline bool ledger_is_complete(const struct ledger *ledger)
{
    return !ledger->grows && ledger->done + ranges_total(&ledger->failed) == ledger->loop.count;
}
