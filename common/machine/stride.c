/* SPDX-License-Identifier: MIT */
/* See stride.h. */
#include "common/machine/stride.h"

#include <assert.h>
#include <stddef.h>

static bool is_put_off(const struct stride *stride, const struct stride_share *share)
{
    const struct stride_share *other = stride->first;
    while (other != NULL && !(other->has_chunk && other->priority > share->priority))
        other = other->next;
    return other != NULL;
}

static bool is_before(const struct stride_share *share, const struct stride_share *other)
{
    if (other == NULL || share->priority != other->priority)
        return other == NULL || share->priority > other->priority;
    return share->pass < other->pass;
}

void stride_admit(struct stride *stride, struct stride_share *share)
{
    struct stride_share **end = &stride->first, *other = stride->first;
    while (other != NULL && other->priority != share->priority)
        other = other->next;
    share->floor = other != NULL ? other->floor : 0;
    share->was_idle = true;
    share->next = NULL;
    while (*end != NULL)
        end = &(*end)->next;
    *end = share;
}

void stride_leave(struct stride *stride, struct stride_share *share)
{
    struct stride_share **place = &stride->first;
    while (*place != NULL && *place != share)
        place = &(*place)->next;
    if (*place != NULL)
        *place = share->next;
    if (stride->owner == share)
        stride_disown(stride);
}

void stride_own(struct stride *stride, struct stride_share *share, uint64_t now_ns)
{
    stride->owner = share;
    stride->since_ns = now_ns;
}

void stride_disown(struct stride *stride)
{
    if (stride->owner != NULL)
        stride->owner->held_since_ns = 0;
    stride->owner = NULL;
}

uint64_t stride_due_ns(const struct stride *stride)
{
    const struct stride_share *owner = stride->owner, *next = NULL;
    for (const struct stride_share *other = stride->first; other != NULL; other = other->next)
        if (other != owner && other->has_chunk && is_before(other, next))
            next = other;
    if (owner == NULL || next == NULL || next->priority < owner->priority)
        return STRIDE_NEVER;
    if (next->priority > owner->priority)
        return 0;
    const uint64_t least_ns = stride->since_ns + stride->keeps_ns;
    if (next->pass <= owner->pass)
        return least_ns;
    /* no other process computes for `owner`, so its pass does not change before its next charge */
    if (owner->held_since_ns == 0)
        return STRIDE_NEVER;
    const uint64_t equal_ns = owner->held_since_ns + (next->pass - owner->pass) * owner->weight / STRIDE_PASS_SCALE;
    return equal_ns > least_ns ? equal_ns : least_ns;
}

void stride_begin(struct stride *stride)
{
    stride->round++;
}

struct stride_share *stride_next(struct stride *stride)
{
    struct stride_share *chosen = NULL, *share = stride->first;
    for (; share != NULL && (chosen == NULL || chosen->held_since_ns == 0); share = share->next) {
        if (share->round == stride->round || share->ends)
            continue;
        if (share->held_since_ns > 0 || (is_before(share, chosen) && !is_put_off(stride, share)))
            chosen = share;
    }
    if (chosen != NULL)
        chosen->round = stride->round;
    return chosen;
}

struct reach {
    uint64_t least, greatest;
    unsigned weights;
};

static struct reach reach_of(const struct stride *stride, int priority)
{
    struct reach reach = {.least = UINT64_MAX};
    for (const struct stride_share *other = stride->first; other != NULL; other = other->next) {
        if (other->priority != priority || !other->has_chunk)
            continue;
        reach.least = other->pass < reach.least ? other->pass : reach.least;
        reach.greatest = other->pass > reach.greatest ? other->pass : reach.greatest;
        reach.weights += other->weight;
    }
    return reach;
}

static uint64_t within(const struct reach *reach, uint64_t floor)
{
    if (reach->weights == 0)
        return floor;
    floor = floor > reach->least ? floor : reach->least;
    return floor < reach->greatest ? floor : reach->greatest;
}

void stride_want(struct stride *stride, struct stride_share *share)
{
    const struct reach reach = reach_of(stride, share->priority);
    const uint64_t floor = within(&reach, share->floor);
    if (share->was_idle && share->pass < floor)
        share->pass = floor;
    share->was_idle = false;
    share->has_chunk = true;
}

/* The floor of a priority rises with the mean pass of those jobs of this priority that have a chunk; the charged job is
 * always included. So the floor follows the jobs that stay, even if short jobs come and go within a turn. */
void stride_charge(struct stride *stride, struct stride_share *share, uint64_t ns)
{
    share->pass += ns * STRIDE_PASS_SCALE / share->weight;
    share->used_ns += ns;
    share->held_since_ns = 0;
    const bool had_chunk = share->has_chunk;
    share->has_chunk = true;
    const struct reach reach = reach_of(stride, share->priority);
    share->has_chunk = had_chunk;
    const uint64_t floor = within(&reach, share->floor + ns * STRIDE_PASS_SCALE / reach.weights);
    for (struct stride_share *other = stride->first; other != NULL; other = other->next)
        if (other->priority == share->priority)
            other->floor = floor;
}

void stride_hold(struct stride_share *share, uint64_t since_ns)
{
    share->held_since_ns = since_ns;
}

void stride_end(struct stride_share *share)
{
    share->ends = true;
    share->has_chunk = false;
    share->held_since_ns = 0;
}

void stride_pass(struct stride_share *share)
{
    share->was_idle = true;
    share->held_since_ns = 0;
}

void stride_check(const struct stride *stride)
{
    unsigned held = 0;
    bool is_there = stride->owner == NULL;
    for (const struct stride_share *share = stride->first; share != NULL; share = share->next) {
        assert(share->weight > 0 && "each job has a weight");
        held += share->held_since_ns > 0;
        is_there = is_there || stride->owner == share;
        assert((!share->ends || (!share->has_chunk && share->held_since_ns == 0)) && "who ends keeps nobody waiting");
        for (const struct stride_share *other = share->next; other != NULL; other = other->next)
            assert((other->priority != share->priority || other->floor == share->floor) &&
                   "the jobs of one priority begin at one place");
    }
    assert(is_there && "the core is a job's that is there");
    assert(held <= 1 && "others compute for one job at a time");
}
