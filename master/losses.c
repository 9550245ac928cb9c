/* SPDX-License-Identifier: MIT */
/* What the supermaster is told of lost workers, of chunks that were handed out again, and of ranges that were given up.
 * Nothing of it is sent in a run where nothing goes wrong. */
#include "master/core.h"

static void tell_workers(struct master *master)
{
    struct service *service = &master->service;
    for (; service->losses_told < service->loss_count; service->losses_told++) {
        const struct loss *loss = &service->losses[service->losses_told];
        actions_send(master->actions, master->config.supermaster,
                     &(struct message){.type = MESSAGE_LOST,
                                       .lost = {service->ranks[loss->worker], loss->chunks, loss->running.first,
                                                loss->running.count}});
    }
}

static void tell_faults(struct master *master)
{
    struct service *service = &master->service;
    if (service->reissued == 0 && service->duplicates == 0)
        return;
    actions_send(master->actions, master->config.supermaster,
                 &(struct message){.type = MESSAGE_FAULTS, .faults = {service->reissued, service->duplicates}});
    service->reissued = service->duplicates = 0;
}

static void tell_failed(struct master *master)
{
    struct service *service = &master->service;
    while (service->failed_told < service->failed_count) {
        unsigned left = service->failed_count - service->failed_told, count = left < FAILED_MAX ? left : FAILED_MAX;
        actions_send(master->actions, master->config.supermaster,
                     &(struct message){
                         .type = MESSAGE_FAILED,
                         .records = service->failed + (size_t)service->failed_told * ASSIGN_RECORD_BYTES,
                         .record_count = count,
                     });
        service->failed_told += count;
    }
}

void master_tell_losses(struct master *master)
{
    master->service.news = false;
    tell_workers(master);
    tell_faults(master);
    tell_failed(master);
    if (master->service.out_of_memory)
        master_problem(master, master->config.rank, "out of memory for what was lost");
}
