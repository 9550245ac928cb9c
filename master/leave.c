/* SPDX-License-Identifier: MIT */
/* The last messages that a master sends: a report, the statistics of its workers, and GOODBYE. */
#include "master/core.h"

#include "common/service/service.h"
#include "common/util/error.h"

static void send_stats(struct master *master)
{
    const struct service *service = &master->service;
    struct stats_record record;
    for (unsigned w = 0; w < service->worker_count; w++) {
        service_stats(service, w, &record);
        stats_record_put(master->stats_records, w, &record);
    }
    for (unsigned w = 0; w < service->worker_count; w += STATS_MAX) {
        unsigned left = service->worker_count - w;
        actions_send(master->actions, master->config.supermaster,
                     &(struct message){
                         .type = MESSAGE_STATS,
                         .records = master->stats_records + (size_t)w * STATS_RECORD_BYTES,
                         .record_count = left < STATS_MAX ? left : STATS_MAX,
                     });
    }
}

void master_leave(struct master *master, uint64_t now_ns)
{
    struct actions *actions = master->actions;
    if (master->done_count > 0)
        master_report(master, false, now_ns);
    send_stats(master);
    master_tell_counts(master);
    master_tell_verified(master);
    trace_flush(master->service.trace);
    actions_send(actions, master->config.supermaster,
                 &(struct message){
                     .type = MESSAGE_GOODBYE,
                     .goodbye =
                         {
                             .messages = actions->messages + 1 + master->service.tally.messages,
                             .bytes = actions->bytes + GOODBYE_BYTES + master->service.tally.bytes,
                         },
                 });
    actions_add(actions, &(struct action){.type = ACTION_EXIT, .exit = {EXIT_STATUS_DONE}});
}
