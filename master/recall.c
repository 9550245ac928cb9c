/* SPDX-License-Identifier: MIT */
/* Recall through a master. If the supermaster asks for work, the master returns a share of its pool or, if the pool is
 * empty, of what its workers have not begun. It asks the supermaster for work if its own workers are idle, nothing is
 * left to recall here, and the supermaster has parked its refill. */
#include "master/core.h"

#include "common/config/run_spec.h"
#include "common/service/pool.h"
#include "common/service/refill.h"
#include "common/service/service.h"
#include "common/util/ranges.h"

#include <limits.h>

void master_receive_recall(struct master *master, const struct recall *recall)
{
    /* If work is returned late, the supermaster may take it for the answer to a new RECALL, and send another one. So a
     * second RECALL is accepted then. */
    bool is_second = master->recall_waiting > 0 && !master->returns_more;
    if (master->config.distance > 0 || is_second)
        master_refuse(master, master->config.supermaster, "recalls work that it may not recall now");
    else if (master->state == MASTER_SERVING)
        master->recall_waiting = recall->waiting;
}

static void master_send_returned(struct master *master, unsigned waiting)
{
    unsigned char *records = master->actions->room.returned;
    struct range ranges[RETURNED_MAX];
    unsigned count = service_take_recalled(&master->service, waiting, ranges, RETURNED_MAX);
    for (unsigned i = 0; i < count; i++)
        assign_record_put(records, i, ranges[i].first, ranges[i].count);
    actions_send(master->actions, master->config.supermaster,
                 &(struct message){.type = MESSAGE_RETURNED, .records = records, .record_count = count});
    master->recall_waiting = 0;
}

/* Answers at once if the pool or the requeued work is not empty. Otherwise waits until enough iterations for all
 * waiting workers were returned, or all workers that were asked have answered. Work from workers in a long iteration is
 * returned later. */
static void answer_recall(struct master *master, uint64_t now_ns)
{
    struct service *service = &master->service;
    unsigned waiting = master->recall_waiting;
    if (service->pool.count == 0 && service->requeued.count == 0) {
        service_recall_for_others(service, waiting, now_ns, master->actions);
        if (service->recall.open > 0 && service_recalled_iterations(service) < waiting)
            return;
    }
    master_send_returned(master, waiting);
    service_recall_for_others(service, 0, now_ns, master->actions);
    master->returns_more = true;
}

/* Returns true if workers are idle and the supermaster knows of at most half of them. So a master sends only a few
 * RECALLs, and not one for each worker. */
static bool wants_recall(struct master *master)
{
    struct service *service = &master->service;
    unsigned idle = service_idle(service);
    return master->refills.parked && service->line.count > 0 && idle > 0 && idle >= 2 * master->told_idle &&
           service_recall_is_over(service);
}

void master_look_at_recalls(struct master *master, uint64_t now_ns)
{
    if (master->recall_waiting > 0)
        answer_recall(master, now_ns);
    else if (master->returns_more && master->service.recall.count > 0 && service_idle(&master->service) == 0)
        master_send_returned(master, UINT_MAX);
    if (!wants_recall(master) || master->config.spec->recall != RUN_RECALL_ON || master->config.distance > 0)
        return;
    master->told_idle = service_idle(&master->service);
    REASON(master->reasons, "has work recalled elsewhere: %u wait, and all that is here has begun", master->told_idle);
    actions_send(master->actions, master->config.supermaster,
                 &(struct message){.type = MESSAGE_RECALL, .recall = {master->told_idle}});
}
