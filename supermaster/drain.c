/* The end of a run: all done, asked to stop, or failed. END goes down once; the supermaster leaves when everybody has
 * said goodbye. */
#include "supermaster/core.h"

void supermaster_end(struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    if (supermaster->state >= SUPERMASTER_ENDING)
        return;
    supermaster_move(supermaster, SUPERMASTER_ENDING);
    bool drain = !ledger_is_complete(&supermaster->ledger);
    for (unsigned m = 0; m < topology->masters; m++)
        actions_send(supermaster->actions, topology->master_rank[m],
                     &(struct message){.type = MESSAGE_END, .end = {.drain = drain}});
    service_end(&supermaster->service, drain, supermaster->actions);
}

void supermaster_fail(struct supermaster *supermaster, unsigned rank, const char *text)
{
    if (supermaster->failure.text[0] == '\0') {
        supermaster->failed_rank = rank;
        error_set(&supermaster->failure, "%s", text);
    }
    supermaster_end(supermaster);
}

static int exit_status(const struct supermaster *supermaster)
{
    if (supermaster->failure.text[0] != '\0')
        return EXIT_STATUS_FAILED;
    return ledger_is_complete(&supermaster->ledger) ? EXIT_STATUS_DONE : EXIT_STATUS_DRAINED;
}

/* In the central topology the workers' figures are in the service. */
static void take_figures_from_service(struct supermaster *supermaster)
{
    struct stats_record record;
    for (unsigned w = 0; w < supermaster->service.worker_count; w++) {
        service_stats(&supermaster->service, w, &record);
        supermaster_take_figures(supermaster, &record);
    }
    supermaster->messages += supermaster->service.messages;
    supermaster->bytes += supermaster->service.bytes;
}

void supermaster_leave(struct supermaster *supermaster, uint64_t now_ns)
{
    if (supermaster->goodbyes < supermaster->config.topology->masters || !service_is_over(&supermaster->service))
        return;
    if (is_central(supermaster))
        take_figures_from_service(supermaster);
    supermaster_record_if_due(supermaster, now_ns, true);
    supermaster->messages += supermaster->actions->messages;
    supermaster->bytes += supermaster->actions->bytes;
    actions_add(supermaster->actions, &(struct action){.type = ACTION_EXIT, .exit = {exit_status(supermaster)}});
    supermaster_move(supermaster, SUPERMASTER_GONE);
}
