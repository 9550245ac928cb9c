/* SPDX-License-Identifier: MIT */
/* Recording in the journal what is committed: the ranges of some time together, as one group, so that a chunk costs
 * nothing but a place in a list. What is not recorded yet when a run is killed is computed again; so where that is more
 * than lost time each step records what it commits. */
#include "supermaster/core.h"

#include <assert.h>

/* The longest time from a commit to its record. */
#define RECORD_INTERVAL_NS 50000000u

/* Ranges of a group. Ranges that touch are one, so that there are about as many as chunks are out. */
#define RECORD_RANGES 1024

/* The most ranges that one step commits: there is always room for them. */
static_assert(REPORT_MAX < RECORD_RANGES / 2, "a report fits into a group");

int supermaster_record_init(struct supermaster *supermaster)
{
    supermaster->record.due_ns = NEVER;
    return supermaster->config.journal ? ranges_reserve(&supermaster->record.ranges, RECORD_RANGES) : 0;
}

void supermaster_record_fini(struct supermaster *supermaster)
{
    ranges_fini(&supermaster->record.ranges);
}

void supermaster_record(struct supermaster *supermaster, const struct done_record *done)
{
    struct record *record = &supermaster->record;
    if (!supermaster->config.journal)
        return;
    uint64_t added;
    int result = ranges_add(&record->ranges, done->first, done->count, &added);
    assert(result == 0 && "the ranges of a group have room");
    assert(added == done->count && "nothing is recorded twice");
    record->digest += done->digest;
}

/* Writes the group, which the action borrows until the step is over; nothing is committed in between. */
static void record_write_group(struct supermaster *supermaster)
{
    struct record *record = &supermaster->record;
    size_t count = ranges_length(&record->ranges);
    actions_add(
        supermaster->actions,
        &(struct action){.type = ACTION_JOURNAL, .journal = {ranges_at(&record->ranges, 0), count, record->digest}});
    ranges_clear(&record->ranges);
    record->digest = 0;
    record->due_ns = NEVER;
}

void supermaster_record_if_due(struct supermaster *supermaster, uint64_t now_ns, bool last)
{
    struct record *record = &supermaster->record;
    size_t count = ranges_length(&record->ranges);
    if (count == 0)
        return;
    if (record->due_ns == NEVER)
        record->due_ns = now_ns + RECORD_INTERVAL_NS;
    if (last || supermaster->config.records_at_once || record->due_ns <= now_ns || count > RECORD_RANGES - REPORT_MAX)
        record_write_group(supermaster);
}
