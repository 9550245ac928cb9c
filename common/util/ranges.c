/* SPDX-License-Identifier: MIT */
/* Invariants of a set: its ranges are sorted and not empty, and at least one iteration is missing between two
 * ranges. */
#include "common/util/ranges.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void ranges_init(struct ranges *set)
{
    *set = (struct ranges){0};
}

void ranges_fini(struct ranges *set)
{
    free(set->items);
    ranges_init(set);
}

static void shift_to_start(struct ranges *set)
{
    if (set->head == 0)
        return;
    memmove(set->items, set->items + set->head, set->length * sizeof *set->items);
    set->head = 0;
}

int ranges_reserve(struct ranges *set, size_t count)
{
    if (set->head + count <= set->capacity)
        return 0;
    if (count <= set->capacity && set->head >= set->length) {
        shift_to_start(set); /* takes O(1) amortized, because the move frees at least as much room as it moves */
        return 0;
    }
    size_t capacity = set->capacity < 8 ? 8 : set->capacity * 2;
    if (capacity < set->head + count)
        capacity = set->head + count;
    struct range *items = realloc(set->items, capacity * sizeof *items);
    if (items == NULL)
        return -1;
    set->items = items;
    set->capacity = capacity;
    return 0;
}

static inline uint64_t ranges_end_of(const struct range *range)
{
    return range->first + range->count;
}

static size_t lower_bound(const struct ranges *set, uint64_t position)
{
    size_t low = 0, high = set->length;
    if (high == 0)
        return 0; /* an empty set may have no array */
    const struct range *items = set->items + set->head;
    if (ranges_end_of(&items[high - 1]) < position)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges_end_of(&items[middle]) < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void splice(struct ranges *set, size_t i, size_t old, const struct range *new, size_t count)
{
    struct range *items = set->items + set->head;
    if (count == old + 1 && i < set->length / 2 && set->head > 0) {
        memmove(items - 1, items, i * sizeof *items);
        set->head--;
        items--;
    } else if (old != count)
        memmove(items + i + count, items + i + old, (set->length - i - old) * sizeof *items);
    memcpy(items + i, new, count * sizeof *items);
    set->length = set->length - old + count;
    if (set->length == 0)
        set->head = 0;
}

/* Appends a range after all other ranges; the caller has reserved room for it. Returns false if the range does not
 * begin after all others. */
static bool ranges_append(struct ranges *set, uint64_t first, uint64_t count)
{
    struct range *items = set->items + set->head, *last = set->length > 0 ? &items[set->length - 1] : NULL;
    if (last != NULL && ranges_end_of(last) > first)
        return false;
    if (last != NULL && ranges_end_of(last) == first)
        last->count += count;
    else
        items[set->length++] = (struct range){first, count};
    set->total += count;
    return true;
}

int ranges_add(struct ranges *set, uint64_t first, uint64_t count, uint64_t *added)
{
    if (added != NULL)
        *added = 0;
    if (count == 0)
        return 0;
    if (ranges_reserve(set, set->length + 1) < 0)
        return -1;
    if (ranges_append(set, first, count)) {
        if (added != NULL)
            *added = count;
        return 0;
    }
    const struct range *items = set->items + set->head;
    size_t i = lower_bound(set, first), merged = 0;
    uint64_t low = first, high = first + count, had = 0;
    while (i + merged < set->length && items[i + merged].first <= high) {
        const struct range *other = &items[i + merged];
        low = other->first < low ? other->first : low;
        high = ranges_end_of(other) > high ? ranges_end_of(other) : high;
        had += other->count;
        merged++;
    }
    splice(set, i, merged, &(struct range){low, high - low}, 1);
    uint64_t grown = high - low - had;
    set->total += grown;
    if (added != NULL)
        *added = grown;
    return 0;
}

int ranges_remove(struct ranges *set, uint64_t first, uint64_t count, uint64_t *removed)
{
    if (removed != NULL)
        *removed = 0;
    if (count == 0 || set->length == 0)
        return 0;
    if (ranges_reserve(set, set->length + 1) < 0)
        return -1;
    const struct range *items = set->items + set->head;
    uint64_t end = first + count, had = 0;
    size_t i = lower_bound(set, first), touched = 0, kept = 0;
    struct range left_over[2];
    while (i + touched < set->length && items[i + touched].first < end) {
        const struct range *other = &items[i + touched];
        had += other->count;
        if (other->first < first) {
            left_over[kept++] = (struct range){other->first, first - other->first};
            had -= first - other->first;
        }
        if (ranges_end_of(other) > end) {
            left_over[kept++] = (struct range){end, ranges_end_of(other) - end};
            had -= ranges_end_of(other) - end;
        }
        touched++;
    }
    splice(set, i, touched, left_over, kept);
    set->total -= had;
    if (removed != NULL)
        *removed = had;
    return 0;
}

bool ranges_take(struct ranges *set, uint64_t want, struct range *taken)
{
    if (set->length == 0 || want == 0)
        return false;
    struct range *front = &set->items[set->head];
    taken->first = front->first;
    taken->count = want < front->count ? want : front->count;
    front->first += taken->count;
    front->count -= taken->count;
    set->total -= taken->count;
    if (front->count == 0) {
        set->head++;
        set->length--;
        if (set->length == 0)
            set->head = 0;
    }
    return true;
}

bool ranges_contains(const struct ranges *set, uint64_t iteration)
{
    return ranges_covers(set, iteration, 1);
}

bool ranges_covers(const struct ranges *set, uint64_t first, uint64_t count)
{
    size_t i = lower_bound(set, first + 1);
    if (i == set->length)
        return false;
    const struct range *found = ranges_at(set, i);
    return found->first <= first && first + count <= ranges_end_of(found);
}

bool ranges_overlap(const struct ranges *set, uint64_t first, uint64_t count)
{
    size_t i = lower_bound(set, first + 1);
    return i < set->length && ranges_at(set, i)->first < first + count;
}

void ranges_check(const struct ranges *set)
{
    uint64_t total = 0;
    assert(set->head + set->length <= set->capacity && "a set has room for all of its ranges");
    for (size_t i = 0; i < set->length; i++) {
        const struct range *range = ranges_at(set, i);
        assert(range->count > 0 && "no range of a set is empty");
        assert(range->first <= UINT64_MAX - range->count && "a range ends within 64 bits");
        assert((i == 0 || ranges_end_of(range - 1) < range->first) && "ranges are sorted, with a gap between any two");
        total += range->count;
    }
    assert(total == set->total && "the total of a set is the sum of its ranges");
}
