/* SPDX-License-Identifier: MIT */
/* Messages from a worker to its master: requests and results go to the service, the rest goes up. */
#include "master/core.h"

/* The rank that a message is about that goes up unchanged. */
static unsigned subject(const struct message *message, unsigned sender)
{
    struct speed speed;
    switch (message->type) {
    case MESSAGE_SPEED: speed_get(message, &speed); return speed.worker;
    case MESSAGE_FATAL: return message->fatal.rank;
    case MESSAGE_THREADS: return message->threads.worker;
    default: return sender;
    }
}

static void relay(struct master *master, unsigned w, const struct message *message)
{
    unsigned sender = master->service.ranks[w];
    if (subject(message, sender) != sender) {
        master_refuse(master, sender, "sent a message in the name of another rank");
        return;
    }
    actions_send(master->actions, master->config.supermaster, message);
}

static void recv_worker_serve(struct master *master, unsigned w, uint64_t now_ns, const struct message *message)
{
    struct error error;
    if (service_message(&master->service, w, now_ns, message, master->actions, &error) < 0)
        master_refuse(master, master->service.ranks[w], error.text);
    else if (message->type == MESSAGE_ITERATIONS_FAILED)
        service_serve(&master->service, now_ns, master->actions);
}

void master_receive_from_worker(struct master *master, unsigned w, uint64_t now_ns, const struct message *message)
{
    switch (message->type) {
    case MESSAGE_SPEED:
    case MESSAGE_FATAL:
    case MESSAGE_THREADS:
    case MESSAGE_DRAIN: relay(master, w, message); break;
    case MESSAGE_QUIESCED: master_receive_quiesced(master, w, message); break;
    default: recv_worker_serve(master, w, now_ns, message);
    }
}
