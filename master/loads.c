/* SPDX-License-Identifier: MIT */
/* The loads of the workers' cores, which the supermaster considers when it cuts chunks. If loads have changed, they are
 * sent before the next report or refill request. Workers report loads only with --weighting acp. */
#include "master/core.h"

#include "common/service/service.h"

#include <stdlib.h>

static void send_part(struct master *master, unsigned first, unsigned count)
{
    actions_send(master->actions, master->config.supermaster,
                 &(struct message){
                     .type = MESSAGE_LOADS,
                     .records = master->load_records + (size_t)first * LOAD_RECORD_BYTES,
                     .record_count = count,
                 });
}

void master_send_loads(struct master *master)
{
    struct service *service = &master->service;
    unsigned count = 0;
    master->loads_changed = false;
    for (unsigned w = 0; w < service->worker_count; w++) {
        struct served *worker = &service->workers[w];
        const struct load_record record = {service->ranks[w], worker->load};
        if (worker->load == worker->load_told)
            continue;
        worker->load_told = worker->load;
        load_record_put(master->load_records, count++, &record);
    }
    for (unsigned first = 0; first < count; first += LOADS_MAX)
        send_part(master, first, count - first < LOADS_MAX ? count - first : LOADS_MAX);
}
