/* SPDX-License-Identifier: MIT */
/* The ledger: see ledger.h. Invariant: free + sum of granted + done + failed = loop, and no two of them overlap. */
#include "supermaster/ledger.h"

#include <stdlib.h>

int ledger_init(struct ledger *ledger, uint64_t first, uint64_t count, unsigned holders)
{
    *ledger = (struct ledger){.loop = {first, count}, .holders = holders};
    ledger->granted = calloc(holders > 0 ? holders : 1, sizeof *ledger->granted);
    if (ledger->granted == NULL || ranges_add(&ledger->free, first, count, NULL) < 0) {
        ledger_fini(ledger);
        return -1;
    }
    return 0;
}

void ledger_fini(struct ledger *ledger)
{
    for (unsigned i = 0; ledger->granted != NULL && i < ledger->holders; i++)
        ranges_fini(&ledger->granted[i]);
    free(ledger->granted);
    ranges_fini(&ledger->free);
    ranges_fini(&ledger->failed);
    *ledger = (struct ledger){0};
}

int ledger_restore(struct ledger *ledger, const struct ranges *done, uint64_t digest)
{
    for (size_t i = 0; i < ranges_length(done); i++) {
        uint64_t removed;
        if (ranges_remove(&ledger->free, ranges_at(done, i)->first, ranges_at(done, i)->count, &removed) < 0)
            return -1;
        ledger->done += removed;
    }
    ledger->digest += digest;
    return 0;
}

int ledger_grant(struct ledger *ledger, unsigned holder, uint64_t want, struct range *range)
{
    struct ranges *granted = &ledger->granted[holder];
    if (ranges_reserve(granted, ranges_length(granted) + 1) < 0)
        return -1;
    if (!ranges_take(&ledger->free, want, range))
        return 0;
    ranges_add(granted, range->first, range->count, NULL); /* cannot fail: room was reserved */
    return 1;
}

int ledger_claim(struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count)
{
    struct ranges *granted = &ledger->granted[holder];
    if (count == 0 || count > ranges_total(&ledger->free) || !ranges_covers(&ledger->free, first, count))
        return 0;
    if (ranges_reserve(granted, ranges_length(granted) + 1) < 0 || ranges_remove(&ledger->free, first, count, NULL) < 0)
        return -1;
    ranges_add(granted, first, count, NULL); /* cannot fail: room was reserved */
    return 1;
}

int ledger_return(struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count)
{
    if (ranges_reserve(&ledger->free, ranges_length(&ledger->free) + 1) < 0 ||
        ranges_remove(&ledger->granted[holder], first, count, NULL) < 0)
        return -1;
    return ranges_add(&ledger->free, first, count, NULL);
}

/* Moves what of the range is in `set` to those that have failed. */
static int fail_part(struct ledger *ledger, struct ranges *set, uint64_t first, uint64_t count)
{
    for (size_t i = 0; i < ranges_length(set);) {
        const struct range *range = ranges_at(set, i);
        uint64_t low = range->first > first ? range->first : first;
        uint64_t end = range->first + range->count, high = end < first + count ? end : first + count;
        if (low >= high) {
            i++;
            continue;
        }
        if (ranges_add(&ledger->failed, low, high - low, NULL) < 0 || ranges_remove(set, low, high - low, NULL) < 0)
            return -1;
        i = 0;
    }
    return 0;
}

int ledger_give_up(struct ledger *ledger, uint64_t first, uint64_t count)
{
    int result = fail_part(ledger, &ledger->free, first, count);
    for (unsigned i = 0; result == 0 && i < ledger->holders; i++)
        result = fail_part(ledger, &ledger->granted[i], first, count);
    return result;
}

static uint64_t overlap(const struct ranges *set, uint64_t first, uint64_t count)
{
    uint64_t sum = 0, end = first + count;
    for (size_t i = 0; i < ranges_length(set); i++) {
        const struct range *other = ranges_at(set, i);
        uint64_t low = other->first > first ? other->first : first;
        uint64_t high = other->first + other->count < end ? other->first + other->count : end;
        sum += high > low ? high - low : 0;
    }
    return sum;
}

/* The result of a range that its sender no longer holds: it may be free again or granted to others. */
static int commit_elsewhere(struct ledger *ledger, uint64_t first, uint64_t count)
{
    uint64_t open = overlap(&ledger->free, first, count);
    for (unsigned i = 0; i < ledger->holders; i++)
        open += overlap(&ledger->granted[i], first, count);
    if (open == 0) {
        ledger->duplicates++;
        return LEDGER_DUPLICATE;
    }
    if (open < count)
        return LEDGER_MISMATCH;
    if (ranges_reserve(&ledger->free, ranges_length(&ledger->free) + 1) < 0)
        return -1;
    for (unsigned i = 0; i < ledger->holders; i++)
        if (ranges_reserve(&ledger->granted[i], ranges_length(&ledger->granted[i]) + 1) < 0)
            return -1;
    ranges_remove(&ledger->free, first, count, NULL);
    for (unsigned i = 0; i < ledger->holders; i++)
        ranges_remove(&ledger->granted[i], first, count, NULL);
    return LEDGER_COMMITTED;
}

static bool is_held_by(const struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count)
{
    const struct ranges *granted = &ledger->granted[holder];
    return count <= ranges_total(granted) && ranges_covers(granted, first, count);
}

/* Whether the result is the beginning of what its holder was granted first: so it nearly always is, and then no search
 * is needed. */
static bool commit_oldest(struct ranges *granted, uint64_t first, uint64_t count)
{
    struct range range;
    if (ranges_length(granted) == 0 || ranges_at(granted, 0)->first != first || ranges_at(granted, 0)->count < count)
        return false;
    return ranges_take(granted, count, &range);
}

int ledger_commit(struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count, uint64_t digest)
{
    const struct range *loop = &ledger->loop;
    if (count == 0 || first < loop->first || count > loop->count || first - loop->first > loop->count - count)
        return LEDGER_MISMATCH;
    int result = LEDGER_COMMITTED;
    if (commit_oldest(&ledger->granted[holder], first, count))
        result = LEDGER_COMMITTED;
    else if (!is_held_by(ledger, holder, first, count))
        result = commit_elsewhere(ledger, first, count);
    else if (ranges_remove(&ledger->granted[holder], first, count, NULL) < 0)
        result = -1;
    if (result == LEDGER_COMMITTED) {
        ledger->done += count;
        ledger->digest += digest;
    }
    return result;
}

int ledger_release(struct ledger *ledger, unsigned holder, uint64_t *released)
{
    struct ranges *granted = &ledger->granted[holder];
    *released = 0;
    while (ranges_length(granted) > 0) {
        struct range range = *ranges_at(granted, 0);
        if (ranges_add(&ledger->free, range.first, range.count, NULL) < 0)
            return -1;
        ranges_take(granted, range.count, &range);
        *released += range.count;
    }
    return 0;
}
