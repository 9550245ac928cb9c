/* SPDX-License-Identifier: MIT */
/* Masters that join, with their workers, while others compute. All arrays become longer, at their ends; no rank and no
 * index that was there changes. Where the workers probe, a master that joins in the middle of the loop is served when
 * the speeds of its workers are known; then the technique begins anew for what is left, with all that are there and
 * what was learned of them. A loop with dependencies is not for those who come later: they are told to end at once.
 *
 * A pod may be unfit for a job, as where its node lacks a file: it is told to leave, and the others go on. */
#include "supermaster/core.h"

#include "common/machine/probe.h"
#include "common/util/grow.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

int supermaster_joins_make_room(struct supermaster *supermaster, const struct room *room)
{
    struct joins *joins = &supermaster->joins;
    const size_t before = room->masters.before, now = room->masters.now;
    const bool complete =
        grow_to(&joins->missing, before, now, sizeof *joins->missing) == 0 &&
        grow_to(&joins->refills_kept, before, now, sizeof *joins->refills_kept) == 0 &&
        grow_to(&joins->is_missing, room->workers.before, room->workers.now, sizeof *joins->is_missing) == 0;
    return complete ? 0 : -1;
}

void supermaster_joins_fini(struct supermaster *supermaster)
{
    free(supermaster->joins.missing);
    free(supermaster->joins.refills_kept);
    free(supermaster->joins.is_missing);
    free(supermaster->joins.unfit);
}

void supermaster_keep_joiners_refill(struct supermaster *supermaster, unsigned m)
{
    supermaster->joins.refills_kept[m]++;
}

/* --- being served --- */

/* The speed of a worker that has joined where no worker probes: the mean of the others, as far as there are any. */
static void assume_speeds(struct supermaster *supermaster, unsigned first)
{
    struct worker_statistics *statistics = supermaster->statistics;
    double sum = 0;
    for (unsigned w = 0; w < first; w++)
        sum += statistics[w].speed;
    for (unsigned w = first; w < supermaster->config.topology->workers; w++)
        statistics[w].speed = first > 0 ? sum / first : 1;
}

/* Master `m` and its workers take part from now on. */
static void take_up(struct supermaster *supermaster, unsigned m)
{
    struct joins *joins = &supermaster->joins;
    if (supermaster->state != SUPERMASTER_SERVING)
        return;
    if (supermaster->config.probe)
        supermaster_compare_speeds(supermaster);
    supermaster_recount_workers(supermaster);
    supermaster->refills_parked[m] += joins->refills_kept[m];
    joins->refills_kept[m] = 0;
    supermaster->recalls.has_no_giver = false;
    if (supermaster->refills_parked[m] > 0)
        supermaster_serve_parked(supermaster, m);
}

static void close_joining(struct supermaster *supermaster)
{
    if (--supermaster->joins.open == 0)
        supermaster->joins.due_ns = NEVER;
}

void supermaster_note_joiner(struct supermaster *supermaster, unsigned w)
{
    const unsigned m = supermaster->config.topology->master_of[w];
    struct joins *joins = &supermaster->joins;
    joins->is_missing[w] = false;
    joins->due_ns = supermaster->now_ns + supermaster_patience_ns(supermaster->now_ns - joins->since_ns);
    if (--joins->missing[m] > 0)
        return;
    close_joining(supermaster);
    take_up(supermaster, m);
}

void supermaster_forget_joining(struct supermaster *supermaster, unsigned m)
{
    const struct topology *topology = supermaster->config.topology;
    struct joins *joins = &supermaster->joins;
    joins->refills_kept[m] = 0;
    if (!supermaster_is_joining(supermaster, m))
        return;
    for (unsigned i = 0; i < topology_count(topology, m); i++)
        joins->is_missing[topology->served[topology_first(topology, m) + i]] = false;
    joins->missing[m] = 0;
    close_joining(supermaster);
}

void supermaster_expire_joins(struct supermaster *supermaster)
{
    if (supermaster->joins.due_ns > supermaster->now_ns)
        return;
    supermaster->losses.late = true;
    for (unsigned w = 0; w < supermaster->config.topology->workers; w++)
        if (supermaster_is_joiner(supermaster, w))
            supermaster_note_joiner(supermaster, w);
}

/* --- leaving --- */

/* Has a master leave with its workers before the end, which counts as no loss. */
static void send_away(struct supermaster *supermaster, unsigned m, bool now)
{
    const struct end end = {.drain = true, .now = now};
    supermaster->losses.dismissed[m] = true;
    supermaster->refills_parked[m] = 0;
    supermaster_forget_recall(supermaster, m);
    supermaster_forget_joining(supermaster, m);
    actions_send(supermaster->actions, supermaster->config.topology->master_rank[m],
                 &(struct message){.type = MESSAGE_END, .end = end});
}

/* The speeds of its workers are not waited for. */
static void waive_speeds(struct supermaster *supermaster, unsigned m)
{
    const struct topology *topology = supermaster->config.topology;
    for (unsigned i = 0; i < topology_count(topology, m); i++)
        supermaster_waive_speed(supermaster, topology->served[topology_first(topology, m) + i]);
}

void supermaster_receive_leaving(struct supermaster *supermaster, unsigned rank, bool now)
{
    const struct topology *topology = supermaster->config.topology;
    const unsigned m = topology_master(topology, rank);
    if (m >= topology->masters || supermaster->losses.master_left[m])
        return;
    const bool ends = supermaster->state >= SUPERMASTER_ENDING;
    if (ends ? !now || !supermaster->drains : supermaster->losses.dismissed[m] && !now)
        return; /* it has an END that says so */
    REASON(supermaster->reasons, "rank %u is to leave with its workers", rank);
    send_away(supermaster, m, now);
    waive_speeds(supermaster, m);
}

/* --- those that cannot take part --- */

static bool is_there_without(const struct supermaster *supermaster, unsigned m)
{
    const struct topology *topology = supermaster->config.topology;
    const struct losses *losses = &supermaster->losses;
    for (unsigned w = 0; w < topology->workers; w++)
        if (losses->worker[w] == WORKER_IS_ALIVE && topology->master_of[w] != m &&
            !losses->dismissed[topology->master_of[w]])
            return true;
    return supermaster->config.awaited > 0 && supermaster_may_somebody_come(supermaster);
}

static int note_unfit(struct supermaster *supermaster, unsigned m, unsigned rank, const char *text)
{
    struct joins *joins = &supermaster->joins;
    struct unfit *list = grow(joins->unfit, joins->unfit_count, &joins->unfit_capacity, sizeof *list);
    if (list == NULL)
        return -1;
    joins->unfit = list;
    struct unfit *unfit = &list[joins->unfit_count++];
    unfit->rank = rank;
    unfit->master = m;
    snprintf(unfit->text, sizeof unfit->text, "%s", text);
    return 0;
}

static bool is_told_of(const struct joins *joins, unsigned m)
{
    for (unsigned i = 0; i < joins->unfit_count; i++)
        if (joins->unfit[i].master == m)
            return true;
    return false;
}

bool supermaster_leave_out(struct supermaster *supermaster, unsigned m, unsigned rank, const char *text)
{
    const struct topology *topology = supermaster->config.topology;
    const bool all_end = supermaster->state >= SUPERMASTER_ENDING;
    if (m >= topology->masters || m < topology->launched)
        return false;
    if (supermaster->losses.dismissed[m] || is_told_of(&supermaster->joins, m))
        return true; /* the first of its ranks has told why, or it is to leave anyway */
    if ((!all_end && !is_there_without(supermaster, m)) || note_unfit(supermaster, m, rank, text) < 0)
        return false;
    if (all_end)
        return true;
    REASON(supermaster->reasons, "rank %u is left out with its workers: rank %u cannot take part",
           topology->master_rank[m], rank);
    send_away(supermaster, m, false);
    waive_speeds(supermaster, m);
    return true;
}

unsigned supermaster_unfit_count(const struct supermaster *supermaster)
{
    return supermaster->joins.unfit_count;
}

unsigned supermaster_unfit_rank(const struct supermaster *supermaster, unsigned i)
{
    return supermaster->config.topology->master_rank[supermaster->joins.unfit[i].master];
}

void supermaster_unfit_text(const struct supermaster *supermaster, unsigned i, struct error *text)
{
    const struct unfit *unfit = &supermaster->joins.unfit[i];
    error_set(text, "rank %u cannot take part, and its pod is left out: %s", unfit->rank, unfit->text);
}

void supermaster_note_pod_left(struct supermaster *supermaster)
{
    if (supermaster->state == SUPERMASTER_SERVING && !supermaster_has_no_worker(supermaster))
        supermaster_recount_workers(supermaster);
}

/* --- joining --- */

/* Waits for the speeds of the workers from `first` on. */
static void await_speeds(struct supermaster *supermaster, unsigned m, unsigned first)
{
    struct joins *joins = &supermaster->joins;
    const unsigned count = supermaster->config.topology->workers - first;
    if (supermaster->state == SUPERMASTER_GATHERING) {
        for (unsigned w = first; w < first + count; w++)
            supermaster->levels[w].count = 0;
        supermaster->speeds_missing += count;
        return;
    }
    for (unsigned w = first; w < first + count; w++)
        joins->is_missing[w] = true;
    joins->missing[m] = count;
    joins->open++;
    joins->since_ns = supermaster->now_ns;
}

void supermaster_receive_joined(struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    const unsigned m = topology->masters - 1, first = supermaster->service.worker_count;
    assert(!is_central(supermaster) && supermaster->ledger.holders == m + 1 && "one master has joined others");
    service_add_workers(&supermaster->service, topology->worker_rank, topology->workers);
    supermaster_nodes_add(supermaster);
    ledger_add_holder(&supermaster->ledger);
    supermaster->holders++;
    for (unsigned w = first; w < topology->workers; w++) {
        supermaster->seat[w] = NO_SEAT;
        supermaster->levels[w].count = SPEED_WAIVED; /* unless it is waited for */
        supermaster->statistics[w].joined_ns = supermaster->now_ns;
    }
    supermaster->losses.heard_ns[m] = supermaster->now_ns;
    REASON(supermaster->reasons, "rank %u has joined with %u workers", topology->master_rank[m],
           topology->workers - first);
    if (supermaster->state >= SUPERMASTER_ENDING || supermaster->config.distance > 0)
        send_away(supermaster, m, false);
    else if (supermaster->config.probe)
        await_speeds(supermaster, m, first);
    else {
        assume_speeds(supermaster, first);
        take_up(supermaster, m);
    }
}
