/* SPDX-License-Identifier: MIT */
/* Recall through a master.
 *
 * If the supermaster recalls work, the master returns a share of its pool. If the pool is empty, it returns work that
 * its workers have not begun.
 *
 * A master asks the supermaster for work of other masters if workers of this master are idle, if nothing is left to
 * recall from its own workers, and if the supermaster has parked its refill request. */
#include "master/core.h"

#include "common/config/run_spec.h"
#include "common/service/pool.h"
#include "common/service/refill.h"
#include "common/service/service.h"
#include "common/util/ranges.h"

#include <limits.h>

void master_receive_recall(struct master *master, const struct recall *recall)
{
    /* A master may return more work after it has answered a RECALL. The supermaster may take this work for the answer
     * to its next RECALL, and then send another RECALL. In that case a second open RECALL is no error. */
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

/* Answers a RECALL at once if there is work in the pool, or requeued work. Otherwise the answer waits until workers
 * have returned enough iterations for all `waiting` workers, or until all workers that were asked have answered. If a
 * worker is in a long iteration, it returns its work after the answer, and that work is sent separately. */
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

/* Returns true if workers are idle and the last RECALL to the supermaster named at most half as many. So a master sends
 * only a few RECALLs, not one for each worker that becomes idle. */
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
