/* What a worker sends to its master: requests and results go to the service, the rest goes up. */
#include "master/core.h"

static void relay(struct master *master, const struct message *message)
{
    actions_send(master->actions, master->config.supermaster, message);
}

static void serve(struct master *master, unsigned from, uint64_t now_ns, const struct message *message)
{
    struct error error;
    unsigned w = service_find(&master->service, from);
    if (w == master->service.worker_count)
        error_set(&error, "is not a worker of master %u", master->config.rank);
    else if (service_message(&master->service, w, now_ns, message, master->actions, &error) >= 0)
        return;
    master_problem(master, from, error.text);
}

void master_receive_from_worker(struct master *master, unsigned from, uint64_t now_ns, const struct message *message)
{
    switch (message->type) {
    case MESSAGE_SPEED:
    case MESSAGE_PROBLEM:
    case MESSAGE_DRAIN: relay(master, message); break;
    default: serve(master, from, now_ns, message);
    }
}
