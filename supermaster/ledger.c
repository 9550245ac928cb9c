/* SPDX-License-Identifier: MIT */
/* The ledger: see ledger.h. Invariant: the free, granted, done, failed and held iterations together are the loop, and
 * no iteration is in two of these sets. */
#include "supermaster/ledger.h"

#include "common/util/grow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int ledger_reserve(struct ledger *ledger, unsigned holders)
{
    if (holders <= ledger->room)
        return 0;
    if (grow_to(&ledger->granted, ledger->room, holders, sizeof *ledger->granted) < 0)
        return -1;
    ledger->room = holders;
    return 0;
}

#define HOLDERS_FEW 128

static int compare_starts(const void *a, const void *b)
{
    const struct granted_at *one = a, *other = b;
    return one->first < other->first ? -1 : one->first > other->first;
}

static void build_index(struct ledger *ledger)
{
    struct granted_index *index = &ledger->index;
    size_t count = ledger->holders;
    for (unsigned i = 0; i < ledger->holders; i++)
        count += ranges_length(&ledger->granted[i]);
    free(index->items);
    *index = (struct granted_index){.items = malloc(2 * count * sizeof *index->items), .capacity = 2 * count};
    for (unsigned i = 0; i < ledger->holders && index->items != NULL; i++)
        for (size_t r = 0; r < ranges_length(&ledger->granted[i]); r++)
            index->items[index->count++] = (struct granted_at){ranges_at(&ledger->granted[i], r)->first, i};
    if (index->items != NULL)
        qsort(index->items, index->count, sizeof *index->items, compare_starts);
}

static size_t items_up_to(const struct granted_index *index, uint64_t first)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (index->items[middle].first <= first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds a grant to the index. A full index is discarded instead, because it also contains grants that have ended.
 * find_holder() builds a new index when it needs one. */
static __attribute__((noinline, cold)) void add_to_index(struct granted_index *index, unsigned holder, uint64_t first)
{
    if (index->count == index->capacity) {
        free(index->items);
        *index = (struct granted_index){0};
        return;
    }
    struct granted_at *at = &index->items[index->count];
    if (index->count > 0 && at[-1].first > first) {
        at = &index->items[items_up_to(index, first)];
        memmove(at + 1, at, (size_t)(&index->items[index->count] - at) * sizeof *at);
    }
    *at = (struct granted_at){first, holder};
    index->count++;
}

static inline void note_granted(struct ledger *ledger, unsigned holder, uint64_t first)
{
    if (ledger->index.items != NULL)
        add_to_index(&ledger->index, holder, first);
}

/* Returns the probable holder of the iteration: the holder of the last grant that does not begin after the
 * iteration. */
static unsigned find_holder(struct ledger *ledger, uint64_t iteration)
{
    const struct granted_index *index = &ledger->index;
    if (index->items == NULL)
        build_index(ledger);
    const size_t count = index->items != NULL ? items_up_to(index, iteration) : 0;
    return count > 0 ? index->items[count - 1].holder : 0;
}

int ledger_init(struct ledger *ledger, uint64_t first, uint64_t count, unsigned holders)
{
    *ledger = (struct ledger){.loop = {first, count}, .holders = holders};
    if (ledger_reserve(ledger, holders > 0 ? holders : 1) < 0 || ranges_add(&ledger->free, first, count, NULL) < 0) {
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
    free(ledger->index.items);
    ranges_fini(&ledger->free);
    ranges_fini(&ledger->failed);
    *ledger = (struct ledger){0};
}

void ledger_add_holder(struct ledger *ledger)
{
    const unsigned last = ledger->holders - 1;
    assert(ledger->holders < ledger->room && "there is room for another holder");
    ledger->granted[ledger->holders++] = ledger->granted[last];
    ledger->granted[last] = (struct ranges){0};
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

int ledger_grow(struct ledger *ledger, uint64_t count)
{
    const struct range *loop = &ledger->loop;
    assert(count >= loop->count && "a loop does not shrink");
    if (ranges_add(&ledger->free, loop->first + loop->count, count - loop->count, NULL) < 0)
        return -1;
    ledger->loop.count = count;
    return 0;
}

int ledger_hold_back(struct ledger *ledger, bool (*is_held)(const void *context, uint64_t iteration),
                     const void *context)
{
    struct ranges free = {0};
    for (size_t r = 0; r < ranges_length(&ledger->free); r++) {
        const struct range range = *ranges_at(&ledger->free, r);
        for (uint64_t i = range.first; i < range.first + range.count; i++)
            if (!is_held(context, i) && ranges_add(&free, i, 1, NULL) < 0) {
                ranges_fini(&free);
                return -1;
            }
    }
    ledger->held = ranges_total(&ledger->free) - ranges_total(&free);
    ranges_fini(&ledger->free);
    ledger->free = free;
    return 0;
}

int ledger_let_go(struct ledger *ledger, uint64_t iteration)
{
    assert(ledger->held > 0 && "what is let go was held back");
    if (ranges_add(&ledger->free, iteration, 1, NULL) < 0)
        return -1;
    ledger->held--;
    return 0;
}

int ledger_give_up_held(struct ledger *ledger, uint64_t iteration)
{
    assert(ledger->held > 0 && "what is given up so was held back");
    if (ranges_add(&ledger->failed, iteration, 1, NULL) < 0)
        return -1;
    ledger->held--;
    return 0;
}

static void add_reserved(struct ranges *set, uint64_t first, uint64_t count)
{
    int result = ranges_add(set, first, count, NULL);
    assert(result == 0 && "an addition for which room was reserved does not run out of memory");
}

static void remove_reserved(struct ranges *set, uint64_t first, uint64_t count)
{
    int result = ranges_remove(set, first, count, NULL);
    assert(result == 0 && "a removal for which room was reserved does not run out of memory");
}

int ledger_grant(struct ledger *ledger, unsigned holder, uint64_t want, struct range *range)
{
    struct ranges *granted = &ledger->granted[holder];
    if (ranges_reserve(granted, ranges_length(granted) + 1) < 0)
        return -1;
    if (!ranges_take(&ledger->free, want, range))
        return 0;
    add_reserved(granted, range->first, range->count);
    note_granted(ledger, holder, range->first);
    return 1;
}

int ledger_claim(struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count)
{
    struct ranges *granted = &ledger->granted[holder];
    if (count == 0 || count > ranges_total(&ledger->free) || !ranges_covers(&ledger->free, first, count))
        return 0;
    if (ranges_reserve(granted, ranges_length(granted) + 1) < 0 || ranges_remove(&ledger->free, first, count, NULL) < 0)
        return -1;
    add_reserved(granted, first, count);
    note_granted(ledger, holder, first);
    return 1;
}

static void note_given_back(struct ledger *ledger, uint64_t first, uint64_t count)
{
    struct range *all = &ledger->given_back;
    const uint64_t end = first + count, all_end = all->first + all->count;
    const bool is_first = all->count == 0;
    all->first = is_first || first < all->first ? first : all->first;
    all->count = (is_first || end > all_end ? end : all_end) - all->first;
}

int ledger_return(struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count)
{
    uint64_t removed;
    if (ranges_reserve(&ledger->free, ranges_length(&ledger->free) + 1) < 0 ||
        ranges_remove(&ledger->granted[holder], first, count, &removed) < 0)
        return -1;
    assert(removed == count && "what is returned was granted to its holder");
    add_reserved(&ledger->free, first, count);
    note_given_back(ledger, first, count);
    return 0;
}

static int fail_part(struct ledger *ledger, struct ranges *set, uint64_t first, uint64_t count, struct ranges *given_up)
{
    for (size_t i = 0; i < ranges_length(set);) {
        const struct range *range = ranges_at(set, i);
        uint64_t low = range->first > first ? range->first : first;
        uint64_t end = range->first + range->count, high = end < first + count ? end : first + count;
        if (low >= high) {
            i++;
            continue;
        }
        if (ranges_reserve(&ledger->failed, ranges_length(&ledger->failed) + 1) < 0 ||
            ranges_reserve(given_up, ranges_length(given_up) + 1) < 0 ||
            ranges_reserve(set, ranges_length(set) + 1) < 0)
            return -1;
        add_reserved(&ledger->failed, low, high - low);
        add_reserved(given_up, low, high - low);
        remove_reserved(set, low, high - low);
        i = 0;
    }
    return 0;
}

int ledger_give_up(struct ledger *ledger, uint64_t first, uint64_t count, struct ranges *given_up)
{
    int result = fail_part(ledger, &ledger->free, first, count, given_up);
    for (unsigned i = 0; result == 0 && i < ledger->holders; i++)
        result = fail_part(ledger, &ledger->granted[i], first, count, given_up);
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

static uint64_t overlap_given_back(const struct ledger *ledger, uint64_t first, uint64_t count)
{
    const struct range *all = &ledger->given_back;
    const uint64_t end = first + count, all_end = all->first + all->count;
    const uint64_t low = first > all->first ? first : all->first, high = end < all_end ? end : all_end;
    return low < high ? overlap(&ledger->free, low, high - low) : 0;
}

static bool is_held_by(const struct ledger *ledger, unsigned holder, uint64_t first, uint64_t count)
{
    const struct ranges *granted = &ledger->granted[holder];
    return count <= ranges_total(granted) && ranges_covers(granted, first, count);
}

/* Commits a range that the sender does not hold entirely: parts of the range may be free again or granted to others. An
 * iteration is in only one set. So the search ends as soon as all iterations of the range are found. */
static int commit_elsewhere(struct ledger *ledger, uint64_t first, uint64_t count)
{
    if (ledger->holders > HOLDERS_FEW) {
        const unsigned holder = find_holder(ledger, first);
        if (is_held_by(ledger, holder, first, count))
            return ranges_remove(&ledger->granted[holder], first, count, NULL) < 0 ? -1 : LEDGER_COMMITTED;
    }
    const uint64_t free = overlap(&ledger->free, first, count);
    uint64_t open = free;
    unsigned begin = ledger->holders, end = ledger->holders;
    for (unsigned i = 0; i < ledger->holders && open < count; i++) {
        const uint64_t held = overlap(&ledger->granted[i], first, count);
        open += held;
        begin = held > 0 && begin == ledger->holders ? i : begin;
        end = held > 0 ? i + 1 : end;
    }
    if (open == 0) {
        ledger->duplicates++;
        return LEDGER_DUPLICATE;
    }
    if (open < count || (free > 0 && overlap_given_back(ledger, first, count) < free))
        return LEDGER_MISMATCH;
    if (ranges_reserve(&ledger->free, ranges_length(&ledger->free) + 1) < 0)
        return -1;
    for (unsigned i = begin; i < end; i++)
        if (ranges_reserve(&ledger->granted[i], ranges_length(&ledger->granted[i]) + 1) < 0)
            return -1;
    remove_reserved(&ledger->free, first, count);
    for (unsigned i = begin; i < end; i++)
        remove_reserved(&ledger->granted[i], first, count);
    return free > 0 ? LEDGER_GIVEN_BACK : LEDGER_COMMITTED;
}

/* Commits the range if it is the beginning of the holder's first range, and then returns true. This is the common case,
 * and needs no search. */
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
    if (result == LEDGER_COMMITTED || result == LEDGER_GIVEN_BACK) {
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
        note_given_back(ledger, range.first, range.count);
        *released += range.count;
    }
    return 0;
}

static const struct ranges *set_of_ledger(const struct ledger *ledger, unsigned i)
{
    return i == 0 ? &ledger->free : i == 1 ? &ledger->failed : &ledger->granted[i - 2];
}

static void check_against_later_sets(const struct ledger *ledger, unsigned i)
{
    const struct ranges *set = set_of_ledger(ledger, i);
    for (unsigned k = i + 1; ranges_length(set) > 0 && k < ledger->holders + 2; k++) {
        const struct ranges *other = set_of_ledger(ledger, k);
        const struct ranges *shorter = ranges_length(other) < ranges_length(set) ? other : set;
        const struct ranges *longer = shorter == set ? other : set;
        for (size_t r = 0; r < ranges_length(shorter); r++) {
            const struct range *range = ranges_at(shorter, r);
            assert(!ranges_overlap(longer, range->first, range->count) &&
                   "an iteration is free, failed, or granted to one holder");
        }
    }
}

void ledger_check(const struct ledger *ledger)
{
    const uint64_t end = ledger->loop.first + ledger->loop.count;
    uint64_t sum = ledger->done + ledger->held;
    for (unsigned i = 0; i < ledger->holders + 2; i++) {
        const struct ranges *set = set_of_ledger(ledger, i);
        size_t length = ranges_length(set);
        ranges_check(set);
        if (length > 0) {
            assert(ranges_at(set, 0)->first >= ledger->loop.first && "what a ledger has lies in the loop");
            assert(ranges_at(set, length - 1)->first + ranges_at(set, length - 1)->count <= end &&
                   "what a ledger has ends with the loop");
        }
        sum += ranges_total(set);
        check_against_later_sets(ledger, i);
    }
    assert(sum == ledger->loop.count && "what is free, granted, done, failed and held back is together the loop");
}
