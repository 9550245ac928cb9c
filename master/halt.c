/* SPDX-License-Identifier: MIT */
/* A loop with dependencies whose worker was lost: all stand still, which the supermaster is told when all that they
 * have finished is reported, and go on where it says. */
#include "master/core.h"

void master_receive_halt(struct master *master, const struct halt *halt)
{
    if (master->config.distance == 0) {
        master_refuse(master, master->config.supermaster, "halted a loop without dependencies");
        return;
    }
    if (master->state >= MASTER_ENDING)
        return;
    if (master->state == MASTER_SERVING)
        master_move(master, MASTER_HALTED);
    master->halt_told = false;
    refills_forget(&master->refills);
    service_set_source(&master->service, true);
    service_halt(&master->service, halt, master->actions);
}

void master_receive_restart(struct master *master, const struct restart *restart)
{
    if (master->state >= MASTER_ENDING)
        return;
    if (master->state != MASTER_HALTED || restart->round != master->service.round) {
        master_refuse(master, master->config.supermaster, "let a loop go on that was not halted");
        return;
    }
    master_move(master, MASTER_SERVING);
    service_restart(&master->service, restart, master->actions);
}

void master_receive_halted(struct master *master, unsigned w, const struct message *message)
{
    if (message->halted.rank != master->service.ranks[w])
        master_refuse(master, master->service.ranks[w], "sent a message in the name of another rank");
    else if (service_take_halted(&master->service, w, &message->halted))
        actions_send(master->actions, master->config.supermaster, message);
}

void master_tell_halted(struct master *master, uint64_t now_ns)
{
    if (master->halt_told || !service_stands_still(&master->service))
        return;
    master->halt_told = true;
    if (master->done_count > 0)
        master_report(master, false, now_ns);
    actions_send(master->actions, master->config.supermaster,
                 &(struct message){.type = MESSAGE_HALTED, .halted = {master->service.round, master->config.rank}});
}
