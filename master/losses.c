/* SPDX-License-Identifier: MIT */
/* The supermaster is told of lost workers, of chunks that were handed out again, and of ranges that were given up.
 * Nothing of it is sent in a run where nothing goes wrong. */
#include "master/core.h"

static void tell_given_up(struct master *master)
{
    unsigned count;
    const unsigned char *records;
    while ((records = service_take_given_up(&master->service, GIVEN_UP_MAX, &count)) != NULL)
        actions_send(master->actions, master->config.supermaster,
                     &(struct message){.type = MESSAGE_ITERATIONS_GIVEN_UP, .records = records, .record_count = count});
}

void master_tell_losses(struct master *master, unsigned news)
{
    struct service *service = &master->service;
    for (const struct loss *loss; (loss = service_take_loss(service)) != NULL;)
        actions_send(master->actions, master->config.supermaster,
                     &(struct message){.type = MESSAGE_WORKER_LOST,
                                       .worker_lost = {service->ranks[loss->worker], loss->chunks, loss->running.first,
                                                       loss->running.count}});
    const struct recovery_counts counts = service_take_counts(service);
    if (counts.reissued > 0 || counts.duplicates > 0)
        actions_send(master->actions, master->config.supermaster,
                     &(struct message){.type = MESSAGE_RECOVERY_COUNTS, .recovery_counts = counts});
    if (news & SERVICE_GAVE_UP)
        tell_given_up(master);
    if (service->out_of_memory)
        master_fatal(master, master->config.rank, "out of memory for what was lost");
}
