/* What is stored and not yet reported. Chunks that follow one another merge, so that a report is short. A step stores
 * one part at most and ends with a report when the list is full, so there is always room for one. */
#include "master/core.h"

static bool merge(struct done_record *record, const struct part *part)
{
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
        if (merge(&master->done[master->done_count - i], part))
            return;
    master->done[master->done_count++] = (struct done_record){part->first, part->count, part->digest};
}

void master_report(struct master *master, bool refill, uint64_t now_ns)
{
    if (master->newsy_count > 0)
        master_send_feedback(master);
    for (unsigned i = 0; i < master->done_count; i++)
        done_record_put(master->report_records, i, &master->done[i]);
    actions_send(master->actions, master->config.supermaster,
                 &(struct message){
                     .type = MESSAGE_REPORT,
                     .report = {.refill = refill, .busy = master->service.busy},
                     .records = master->report_records,
                     .record_count = master->done_count,
                 });
    master->done_count = 0;
    master->reported_at_ns = now_ns;
    master->reported_busy = master->service.busy;
}
