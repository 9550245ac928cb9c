/* SPDX-License-Identifier: MIT */
/* The end of a run: all done, asked to stop, or failed. END goes down once, or a second time where a drain is not to
 * finish what runs after all; the supermaster leaves when everybody has said goodbye. */
#include "supermaster/core.h"

/* True where boundary data may be on their way to workers that have left and will not take them: nobody waits for
 * them. */
static bool leaves_boundaries(const struct supermaster *supermaster)
{
    return supermaster->config.distance > 0 && !ledger_is_complete(&supermaster->ledger);
}

static struct end make_end(const struct supermaster *supermaster)
{
    const bool drains = !ledger_is_complete(&supermaster->ledger);
    return (struct end){
        .drain = drains,
        .degraded = supermaster_is_degraded(supermaster) || leaves_boundaries(supermaster),
        .late = supermaster_is_late(supermaster) && !supermaster->config.is_patient,
        .now = drains && supermaster->ends_now,
    };
}

/* Tells all that are left: masters, and the workers that the supermaster serves itself. A master that was sent away has
 * an END, but may still finish what ran: it is told again where that is to end at once. */
static void send_end(struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    const struct end end = make_end(supermaster);
    for (unsigned m = 0; m < topology->masters; m++)
        if (!supermaster->losses.master_left[m] && (!supermaster->losses.dismissed[m] || end.now))
            actions_send(supermaster->actions, topology->master_rank[m],
                         &(struct message){.type = MESSAGE_END, .end = end});
    service_end(&supermaster->service, &end, supermaster->now_ns, supermaster->actions);
}

void supermaster_end(struct supermaster *supermaster)
{
    if (supermaster->state >= SUPERMASTER_ENDING)
        return;
    supermaster_move(supermaster, SUPERMASTER_ENDING);
    supermaster->drains = !ledger_is_complete(&supermaster->ledger);
    send_end(supermaster);
    supermaster->losses.orphans_due_ns = supermaster->now_ns + supermaster_orphans_wait_ns(supermaster);
}

/* A drain that goes on already is told again: what it lets run is to end. */
void supermaster_drain(struct supermaster *supermaster, bool now)
{
    const bool hurries =
        now && !supermaster->ends_now && supermaster->state == SUPERMASTER_ENDING && supermaster->drains;
    supermaster->ends_now |= now;
    supermaster_end(supermaster);
    if (hurries)
        send_end(supermaster);
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
    if (!ledger_is_complete(&supermaster->ledger))
        return EXIT_STATUS_DRAINED;
    return ranges_total(&supermaster->ledger.failed) > 0 ? EXIT_STATUS_TASKS : EXIT_STATUS_DONE;
}

/* Takes the statistics of the workers that the supermaster serves itself. */
static void take_statistics_from_service(struct supermaster *supermaster)
{
    struct stats_record record;
    for (unsigned w = 0; w < supermaster->service.worker_count; w++) {
        if (!supermaster->service.workers[w].present)
            continue;
        service_stats(&supermaster->service, w, &record);
        supermaster_take_statistics(supermaster, &record);
    }
    supermaster->messages += supermaster->service.messages;
    supermaster->bytes += supermaster->service.bytes;
}

void supermaster_leave(struct supermaster *supermaster, uint64_t now_ns)
{
    if (supermaster->losses.masters_left < supermaster->config.topology->masters ||
        !service_is_over(&supermaster->service) || supermaster->losses.orphans > 0)
        return;
    if (supermaster->service.present > 0)
        take_statistics_from_service(supermaster);
    supermaster_take_own_verified(supermaster);
    supermaster_record_if_due(supermaster, now_ns, true);
    supermaster->messages += supermaster->actions->messages;
    supermaster->bytes += supermaster->actions->bytes;
    actions_add(supermaster->actions, &(struct action){.type = ACTION_EXIT, .exit = {exit_status(supermaster)}});
    supermaster_move(supermaster, SUPERMASTER_GONE);
}
