/* SPDX-License-Identifier: MIT */
/* Loops with dependencies: standing still when a worker or a master is lost, and going on. supermaster/recovery.c says
 * why, and from where.
 *
 * Between QUIESCE and RESTART nobody is served and no neighbours are told. Chunks that a worker had finished arrive
 * ahead of its QUIESCED; its other chunks belong to nobody any more. */
#include "common/machine/machine.h"
#include "common/service/boundary_list.h"
#include "common/service/pool.h"
#include "common/service/service.h"
#include "common/service/serving.h"
#include "common/util/ranges.h"
#include "proto/message.h"

#include <assert.h>

static void empty_pool(struct pool *pool)
{
    struct range range;
    while (pool_take(pool, pool->nobody, &range))
        ;
}

static bool is_there(const struct served *worker)
{
    return worker->present && !worker->gone;
}

void service_quiesce(struct service *service, const struct quiesce *quiesce, struct actions *actions)
{
    service_index_end(service);
    service->epoch = quiesce->epoch;
    assert(service->dependent && "only a loop with dependencies is quiesced");
    service_move(service, SERVICE_QUIESCED, actions);
    service->news |= SERVICE_STOOD_STILL;
    service->waiting_first = service->waiting_count = service->asks_waiting = 0;
    service->ends.count = service->beginnings.count = 0;
    empty_pool(&service->pool);
    for (unsigned w = 0; w < service->worker_count; w++) {
        service->workers[w].asks = 0;
        service->workers[w].quiesced = false;
        if (is_there(&service->workers[w]))
            service_tell_quiesce(service, w, quiesce, actions);
    }
}

void service_tell_quiesce(const struct service *service, unsigned w, const struct quiesce *quiesce,
                          struct actions *actions)
{
    actions_send(actions, service->ranks[w], &(struct message){.type = MESSAGE_QUIESCE, .quiesce = *quiesce});
}

bool service_take_quiesced(struct service *service, unsigned w, const struct quiesced *quiesced)
{
    struct served *worker = &service->workers[w];
    if (service->state != SERVICE_QUIESCED || quiesced->epoch != service->epoch || worker->quiesced ||
        !is_there(worker))
        return false;
    service_drop_unfinished(service, w);
    worker->quiesced = true;
    service_note_standstill(service);
    return true;
}

bool service_is_quiesced(const struct service *service)
{
    for (unsigned w = 0; w < service->worker_count; w++)
        if (is_there(&service->workers[w]) && !service->workers[w].quiesced)
            return false;
    return service->state == SERVICE_QUIESCED && service->parts_on_way == 0;
}

void service_restart(struct service *service, const struct restart *restart, struct actions *actions)
{
    unsigned keeper = service_find(service, restart->rank);
    service_move(service, SERVICE_SERVING, actions);
    if (restart->first > 0 && keeper < service->worker_count && is_there(&service->workers[keeper]))
        service_check_memory(service, boundary_list_add(&service->ends, restart->first, keeper));
    for (unsigned w = 0; w < service->worker_count; w++)
        if (is_there(&service->workers[w]))
            actions_send(actions, service->ranks[w], &(struct message){.type = MESSAGE_RESTART, .restart = *restart});
}
