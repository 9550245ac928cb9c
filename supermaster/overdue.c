/* SPDX-License-Identifier: MIT */
/* Masters whose workers all hang. A master hands what is overdue to another of its workers; where it has none, others
 * wait at the end of the loop and nothing comes of what it holds. Then it is dismissed: by an END it tells what it has,
 * takes those for lost that do not leave, and says goodbye, with which the rest is free again. Until then nobody else
 * is given any of it, and from then on nobody listens to it, so nothing is committed twice.
 *
 * Results leave a worker within a second, or an iteration where that takes longer, and its master at once: a master is
 * overdue when it is silent for ten times as long as any was before it had something to tell, and so long at least as
 * a chunk. One that hands something out again looks after itself, and has as long for it as for what is new. Who has
 * dismissed one in vain has learnt how long silence may be. */
#include "supermaster/core.h"

/* A master with an idle worker is left to look after itself for so much longer. */
#define PATIENCE_NS LEASE_UNKNOWN_NS

void supermaster_note_grant(struct supermaster *supermaster, unsigned m)
{
    if (ranges_length(&supermaster->ledger.granted[m]) == 0)
        supermaster->losses.heard_ns[m] = supermaster->now_ns;
}

void supermaster_note_report(struct supermaster *supermaster, unsigned m)
{
    struct losses *losses = &supermaster->losses;
    uint64_t silence = supermaster->now_ns - losses->heard_ns[m];
    losses->silence_ns = silence > losses->silence_ns ? silence : losses->silence_ns;
    losses->heard_ns[m] = supermaster->now_ns;
}

/* The time of a recovery does not count as silence: it says nothing about masters where nothing is wrong. */
void supermaster_note_recovery_counts(struct supermaster *supermaster, unsigned m)
{
    supermaster->losses.heard_ns[m] = supermaster->now_ns;
}

/* True if a worker of master `m` waits and holds nothing. A worker that hangs after it has asked ahead does not count.
 */
static bool is_idle(const struct supermaster *supermaster, unsigned m)
{
    const struct topology *topology = supermaster->config.topology;
    unsigned workers = 0;
    if (supermaster->refills_parked[m] == 0)
        return false;
    for (unsigned i = 0; i < topology_count(topology, m); i++)
        workers += supermaster->losses.worker[topology->served[topology_first(topology, m) + i]] != WORKER_IS_LOST;
    return supermaster->busy[m] < workers;
}

static bool service_is_idle(const struct service *service)
{
    return service->waiting_count > 0 && service->present - service->gone > service->busy;
}

static bool others_are_idle(const struct supermaster *supermaster, unsigned m)
{
    bool idle = service_is_idle(&supermaster->service);
    for (unsigned i = 0; !idle && i < supermaster->config.topology->masters; i++)
        idle = i != m && is_idle(supermaster, i);
    return idle;
}

static bool anybody_waits(const struct supermaster *supermaster)
{
    bool waits = supermaster->service.waiting_count > 0;
    for (unsigned m = 0; !waits && m < supermaster->config.topology->masters; m++)
        waits = supermaster->refills_parked[m] > 0;
    return waits;
}

static uint64_t due_ns(const struct supermaster *supermaster, unsigned m)
{
    const struct losses *losses = &supermaster->losses;
    uint64_t lease = losses->silence_ns == 0 ? LEASE_UNKNOWN_NS : LEASE_FACTOR * losses->silence_ns;
    uint64_t patience = is_idle(supermaster, m) ? PATIENCE_NS : 0;
    if (supermaster->config.no_speculation)
        return NEVER;
    return losses->heard_ns[m] + (lease > LEASE_MIN_NS ? lease : LEASE_MIN_NS) + patience;
}

static void dismiss(struct supermaster *supermaster, unsigned m)
{
    const struct end end = {.degraded = true}; /* not LATE: its workers may be slow and nothing else */
    REASON(supermaster->reasons, "rank %u is dismissed: it is silent for %.3f s while others wait",
           supermaster->config.topology->master_rank[m],
           (double)(supermaster->now_ns - supermaster->losses.heard_ns[m]) / 1e9);
    supermaster->losses.dismissed[m] = true;
    supermaster->losses.late = true;
    supermaster->refills_parked[m] = 0;
    supermaster_forget_recall(supermaster, m);
    supermaster_note_report(supermaster, m);
    actions_send(supermaster->actions, supermaster->config.topology->master_rank[m],
                 &(struct message){.type = MESSAGE_END, .end = end});
}

static void look_at_master(struct supermaster *supermaster, unsigned m)
{
    struct losses *losses = &supermaster->losses;
    if (losses->master_left[m] || losses->dismissed[m] || ranges_length(&supermaster->ledger.granted[m]) == 0 ||
        !others_are_idle(supermaster, m))
        return;
    uint64_t due = due_ns(supermaster, m);
    if (due <= supermaster->now_ns)
        dismiss(supermaster, m);
    else if (due < losses->look_ns)
        losses->look_ns = due;
}

void supermaster_look_at_masters(struct supermaster *supermaster)
{
    struct losses *losses = &supermaster->losses;
    unsigned masters = supermaster->config.topology->masters;
    if (losses->look_ns > supermaster->now_ns || supermaster->state < SUPERMASTER_SERVING)
        return; /* masters are looked after when the speeds are known */
    losses->look_ns = NEVER;
    if (supermaster->state != SUPERMASTER_SERVING || !anybody_waits(supermaster))
        return;
    losses->look_ns = supermaster->now_ns + LEASE_MIN_NS; /* the answer may be another one by then */
    bool idle = false;
    for (unsigned m = 0; m < masters; m++) {
        idle |= is_idle(supermaster, m);
        look_at_master(supermaster, m);
    }
    if (idle)
        service_lose_overdue(&supermaster->service, supermaster->now_ns);
}

void supermaster_let_go(struct supermaster *supermaster, unsigned m)
{
    const struct topology *topology = supermaster->config.topology;
    struct losses *losses = &supermaster->losses;
    for (unsigned i = 0; i < topology_count(topology, m); i++) {
        const unsigned w = topology->served[topology_first(topology, m) + i];
        if (losses->worker[w] == WORKER_IS_LOST)
            continue;
        losses->workers_left++;
        losses->worker[w] = WORKER_HAS_LEFT;
        supermaster->statistics[w].left_ns = supermaster->now_ns;
    }
}
