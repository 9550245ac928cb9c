/* SPDX-License-Identifier: MIT */
/* Collects ranges that are stored but not yet reported. Adjacent ranges are merged, so that reports stay short. One
 * step of the master adds at most ASKS_MAX ranges. If the room left after a step is smaller than that, the master sends
 * a report. */
#include "master/core.h"

#include "common/service/service.h"

static bool collect_merge(struct done_record *record, const struct part *part)
{
    if (record->has_failed != part->has_failed)
        return false;
    if (record->first + record->count == part->first)
        record->count += part->count;
    else if (part->first + part->count == record->first) {
        record->first = part->first;
        record->count += part->count;
    } else
        return false;
    record->digest += part->digest;
    return true;
}

void master_note_done(struct master *master, const struct part *part)
{
    unsigned recent = master->done_count < 4 ? master->done_count : 4;
    for (unsigned i = 1; i <= recent; i++)
        if (collect_merge(&master->done[master->done_count - i], part))
            return;
    master_note_done_alone(master, part);
}

void master_note_done_alone(struct master *master, const struct part *part)
{
    master->done[master->done_count++] = (struct done_record){part->first, part->count, part->digest, part->has_failed};
}

/* Returns true if a report may contain the stored ranges. `refill`: the report requests a refill.
 *
 * With --durability node a report that contains ranges must wait for a sync, but a refill request should not wait. So a
 * report that requests a refill contains the ranges only if the previous report of ranges is at least
 * REPORT_INTERVAL_NS old. Otherwise a later report contains the ranges. */
static bool takes_done_along(const struct master *master, bool refill, uint64_t now_ns)
{
    return !master->config.sync || !refill || now_ns - master->reported_at_ns >= REPORT_INTERVAL_NS;
}

static unsigned take_done(struct master *master, uint64_t now_ns)
{
    unsigned count = master->done_count;
    for (unsigned i = 0; i < count; i++)
        done_record_put(master->report_records, i, &master->done[i]);
    if (master->config.sync && count > 0)
        actions_add(master->actions, &(struct action){.type = ACTION_SYNC});
    master->done_count = 0;
    master->reported_at_ns = now_ns;
    return count;
}

void master_report(struct master *master, bool refill, uint64_t now_ns)
{
    if (master->measured_count > 0)
        master_send_feedback(master);
    if (master->loads_changed)
        master_send_loads(master);
    const bool takes_done = takes_done_along(master, refill, now_ns);
    /* VERIFIED is sent before the report. If this master is lost between the two messages, the supermaster does not
     * learn of the ranges, and other ranks compute them again. If the report came first, the supermaster could count
     * ranges as done without ever getting their VERIFIED. */
    if (takes_done && master->done_count > 0)
        master_tell_verified(master);
    unsigned done = takes_done ? take_done(master, now_ns) : 0;
    actions_send(master->actions, master->config.supermaster,
                 &(struct message){
                     .type = MESSAGE_REPORT,
                     .report = {.refill = refill, .busy = master->service.count.busy},
                     .records = master->report_records,
                     .record_count = done,
                 });
    master->reported_busy = master->service.count.busy;
}
