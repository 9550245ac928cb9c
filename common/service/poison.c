/* SPDX-License-Identifier: MIT */
/* The record of iterations at which workers died or the kernel failed: see poison.h. Adjacent iterations with the same
 * record share one item. */
#include "common/service/poison.h"

#include "common/util/grow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void poison_fini(struct poison_set *set)
{
    free(set->items);
    *set = (struct poison_set){0};
}

static uint64_t poison_end_of(const struct poison *item)
{
    return item->first + item->count;
}

static size_t poison_find(const struct poison_set *set, uint64_t iteration)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (poison_end_of(&set->items[middle]) <= iteration)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int insert(struct poison_set *set, size_t at, const struct poison *item)
{
    /* grow() may move the array into which `item` points, so the item is copied first */
    const struct poison copy = *item;
    struct poison *items = grow(set->items, set->count, &set->capacity, sizeof *items);
    if (items == NULL)
        return -1;
    set->items = items;
    memmove(&set->items[at + 1], &set->items[at], (set->count - at) * sizeof *set->items);
    set->items[at] = copy;
    set->count++;
    return 0;
}

static void erase(struct poison_set *set, size_t from, size_t to)
{
    if (from == to)
        return;
    memmove(&set->items[from], &set->items[to], (set->count - to) * sizeof *set->items);
    set->count -= to - from;
}

static int poison_split(struct poison_set *set, uint64_t place)
{
    size_t i = poison_find(set, place);
    if (i == set->count || set->items[i].first >= place)
        return 0;
    if (insert(set, i, &set->items[i]) < 0)
        return -1;
    set->items[i].count = place - set->items[i].first;
    set->items[i + 1].count -= set->items[i].count;
    set->items[i + 1].first = place;
    return 0;
}

static bool are_one(const struct poison *a, const struct poison *b)
{
    return poison_end_of(a) == b->first && a->deaths == b->deaths && a->failures == b->failures &&
           a->failed_by == b->failed_by && a->shares_blame == b->shares_blame;
}

static void poison_merge(struct poison_set *set, size_t from, size_t to)
{
    for (size_t i = to < set->count ? to : set->count - 1; i > 0 && i + 1 > from; i--)
        if (are_one(&set->items[i - 1], &set->items[i])) {
            set->items[i - 1].count += set->items[i].count;
            erase(set, i, i + 1);
        }
}

static void poison_add_one(struct poison *item, const struct poison *more)
{
    item->deaths += more->deaths;
    item->shares_blame |= more->shares_blame;
    item->failures += more->failures;
    item->failed_by = more->failures > 0 ? more->failed_by : item->failed_by;
}

static void raise_to(struct poison *item, const struct poison *known)
{
    item->deaths = known->deaths > item->deaths ? known->deaths : item->deaths;
    if (known->failures < item->failures || known->failures == 0)
        return;
    item->failures = known->failures;
    item->failed_by = known->failed_by;
}

static int change_all(struct poison_set *set, const struct poison *by,
                      void (*change)(struct poison *, const struct poison *))
{
    uint64_t end = poison_end_of(by);
    if (by->count == 0)
        return 0;
    if (poison_split(set, by->first) < 0 || poison_split(set, end) < 0)
        return -1;
    size_t from = poison_find(set, by->first), i = from;
    for (uint64_t place = by->first; place < end; place = poison_end_of(&set->items[i++])) {
        uint64_t next = i < set->count && set->items[i].first < end ? set->items[i].first : end;
        const struct poison blank = {.first = place, .count = next - place};
        if (next > place && insert(set, i, &blank) < 0)
            return -1;
        change(&set->items[i], by);
    }
    poison_merge(set, from, i);
    return 0;
}

int poison_add(struct poison_set *set, const struct poison *more)
{
    return change_all(set, more, poison_add_one);
}

int poison_raise(struct poison_set *set, const struct poison *known)
{
    return change_all(set, known, raise_to);
}

int poison_forget(struct poison_set *set, uint64_t first, uint64_t count)
{
    if (poison_split(set, first) < 0 || poison_split(set, first + count) < 0)
        return -1;
    erase(set, poison_find(set, first), poison_find(set, first + count));
    return 0;
}

uint64_t poison_look(const struct poison_set *set, const struct range *range, struct poison *found)
{
    size_t i = poison_find(set, range->first);
    bool is_known = i < set->count && set->items[i].first <= range->first;
    *found = is_known ? set->items[i] : (struct poison){0};
    uint64_t left = is_known         ? poison_end_of(&set->items[i]) - range->first
                    : i < set->count ? set->items[i].first - range->first
                                     : range->count;
    return left < range->count ? left : range->count;
}

void poison_check(const struct poison_set *set)
{
    assert(set->count <= set->capacity && "suspects have room");
    for (size_t i = 0; i < set->count; i++) {
        assert(set->items[i].count > 0 && "no suspect is empty");
        assert((i == 0 || poison_end_of(&set->items[i - 1]) <= set->items[i].first) &&
               "suspects are sorted, and no two of them overlap");
    }
}
