/* SPDX-License-Identifier: MIT */
/* A loop with dependencies whose worker was lost: all workers are quiesced; the supermaster is told when all that they
 * have finished is reported, and says where they go on. */
#include "master/core.h"

#include "common/service/refill.h"
#include "common/service/service.h"

void master_receive_quiesce(struct master *master, const struct quiesce *quiesce)
{
    if (master->config.distance == 0) {
        master_refuse(master, master->config.supermaster, "quiesced a loop without dependencies");
        return;
    }
    if (master->state >= MASTER_ENDING)
        return;
    if (master->state == MASTER_SERVING)
        master_move(master, MASTER_QUIESCED);
    master->quiesced_told = false;
    refills_forget(&master->refills);
    service_set_source(&master->service, SOURCE_FLOWS);
    service_quiesce(&master->service, quiesce, master->actions);
}

void master_receive_restart(struct master *master, const struct restart *restart)
{
    if (master->state >= MASTER_ENDING)
        return;
    if (master->state != MASTER_QUIESCED || restart->epoch != master->service.epoch) {
        master_refuse(master, master->config.supermaster, "let a loop go on that was not quiesced");
        return;
    }
    master_move(master, MASTER_SERVING);
    service_restart(&master->service, restart, master->actions);
}

void master_receive_quiesced(struct master *master, unsigned w, const struct message *message)
{
    if (message->quiesced.rank != master->service.ranks[w])
        master_refuse(master, master->service.ranks[w], "sent a message in the name of another rank");
    else if (service_take_quiesced(&master->service, w, &message->quiesced))
        actions_send(master->actions, master->config.supermaster, message);
}

void master_tell_quiesced(struct master *master, uint64_t now_ns)
{
    if (master->quiesced_told || !service_is_quiesced(&master->service))
        return;
    master->quiesced_told = true;
    if (master->done_count > 0)
        master_report(master, false, now_ns);
    actions_send(master->actions, master->config.supermaster,
                 &(struct message){.type = MESSAGE_QUIESCED, .quiesced = {master->service.epoch, master->config.rank}});
}
