/* SPDX-License-Identifier: MIT */
/* Recall between masters. A master whose workers are idle, and have nothing to recall from one another, asks for work
 * that others have not begun; the master that has most for each of its workers is asked for it. What it returns is free
 * again: the technique is told, and cuts it for the master that waits. A master of which all has begun is not asked
 * again before it is given more. */
#include "supermaster/core.h"

#include "common/util/grow.h"

#include <inttypes.h>
#include <stdlib.h>

int supermaster_recalls_make_room(struct supermaster *supermaster, const struct room *room)
{
    struct recalls *recalls = &supermaster->recalls;
    const size_t before = room->masters.before, now = room->masters.now;
    const bool complete = grow_to(&recalls->waiting, before, now, sizeof *recalls->waiting) == 0 &&
                          grow_to(&recalls->state, before, now, sizeof *recalls->state) == 0 &&
                          grow_to(&recalls->was_asked, before, now, sizeof *recalls->was_asked) == 0 &&
                          grow_to(&recalls->was_told, before, now, sizeof *recalls->was_told) == 0;
    return complete ? 0 : -1;
}

void supermaster_recalls_fini(struct supermaster *supermaster)
{
    free(supermaster->recalls.waiting);
    free(supermaster->recalls.state);
    free(supermaster->recalls.was_asked);
    free(supermaster->recalls.was_told);
}

void supermaster_count_recalls(struct supermaster *supermaster, const struct recovery_counts *counts)
{
    supermaster->recalls.count += counts->recalls;
    supermaster->recalls.iterations += counts->recalled;
}

static void set_waiting(struct recalls *recalls, unsigned m, unsigned waiting)
{
    recalls->masters_waiting += (waiting > 0) - (recalls->waiting[m] > 0);
    recalls->waiting[m] = waiting;
    recalls->was_told[m] &= waiting > 0;
}

void supermaster_note_given(struct supermaster *supermaster, unsigned m)
{
    struct recalls *recalls = &supermaster->recalls;
    set_waiting(recalls, m, 0);
    recalls->has_more = true;
    recalls->has_no_giver = false;
    recalls->state[m] = recalls->state[m] >= RECALL_SENT ? RECALL_OUTDATED : RECALL_POSSIBLE;
}

void supermaster_recall_no_more(struct supermaster *supermaster, unsigned m)
{
    set_waiting(&supermaster->recalls, m, 0);
}

void supermaster_forget_recall(struct supermaster *supermaster, unsigned m)
{
    struct recalls *recalls = &supermaster->recalls;
    set_waiting(recalls, m, 0);
    recalls->open -= recalls->state[m] >= RECALL_SENT;
    recalls->state[m] = RECALL_FUTILE;
}

/* The master with most work for each of its workers of those who may be asked; `masters` where there is none. */
static unsigned find_giver(const struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    const struct recalls *recalls = &supermaster->recalls;
    unsigned best = topology->masters;
    double most = 0;
    for (unsigned m = 0; m < topology->masters; m++) {
        if (recalls->state[m] != RECALL_POSSIBLE || recalls->waiting[m] > 0)
            continue;
        double share = (double)ranges_total(&supermaster->ledger.granted[m]) / topology_count(topology, m);
        if (share > most) {
            most = share;
            best = m;
        }
    }
    return best;
}

/* Keeps a RECALL open for each master that waits, as long as there is somebody to ask. */
static void send_recalls(struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    struct recalls *recalls = &supermaster->recalls;
    unsigned wanted = 0;
    if (recalls->has_no_giver)
        return; /* at the end of a loop most of a thousand masters ask, and all would be looked at for each of them */
    for (unsigned m = 0; m < topology->masters && recalls->masters_waiting > recalls->open; m++) {
        wanted += recalls->waiting[m] > 0;
        if (recalls->waiting[m] == 0 || wanted <= recalls->open)
            continue;
        unsigned giver = find_giver(supermaster);
        if (giver == topology->masters) {
            recalls->has_no_giver = true;
            return;
        }
        REASON(supermaster->reasons, "recalls work of rank %u: %u workers of rank %u wait and nothing is free",
               topology->master_rank[giver], recalls->waiting[m], topology->master_rank[m]);
        recalls->state[giver] = RECALL_SENT;
        recalls->was_asked[giver] = true;
        recalls->open++;
        actions_send(supermaster->actions, topology->master_rank[giver],
                     &(struct message){.type = MESSAGE_RECALL, .recall = {recalls->waiting[m]}});
    }
}

static bool all_has_begun(const struct recalls *recalls)
{
    return recalls->has_no_giver && recalls->open == 0;
}

/* Tells a master that waits that nothing can be recalled for it: its fast workers may help its slow ones. */
static void tell_all_has_begun(struct supermaster *supermaster, unsigned m)
{
    struct recalls *recalls = &supermaster->recalls;
    if (!all_has_begun(recalls) || recalls->waiting[m] == 0 || recalls->was_told[m])
        return;
    recalls->was_told[m] = true;
    actions_send(supermaster->actions, supermaster->config.topology->master_rank[m],
                 &(struct message){.type = MESSAGE_REFILL, .refill = {.empty = true, .begun = true}});
}

void supermaster_receive_recall(struct supermaster *supermaster, unsigned m, const struct recall *recall)
{
    if (supermaster->config.distance > 0) {
        supermaster_refuse(supermaster, "has work of a loop with dependencies recalled");
        return;
    }
    if (supermaster->state != SUPERMASTER_SERVING || supermaster->refills_parked[m] == 0)
        return; /* the run ends, or a refill is on its way */
    set_waiting(&supermaster->recalls, m, recall->waiting);
    send_recalls(supermaster);
    tell_all_has_begun(supermaster, m);
}

void supermaster_look_at_recalls(struct supermaster *supermaster)
{
    supermaster->recalls.has_more = false;
    if (supermaster->recalls.masters_waiting > 0 && supermaster->state == SUPERMASTER_SERVING)
        send_recalls(supermaster);
}

/* Puts the ranges back among the free. -1 where the master was not granted them. */
static int take_returned(struct supermaster *supermaster, unsigned m, const struct message *message)
{
    struct ledger *ledger = &supermaster->ledger;
    uint64_t first, count;
    for (unsigned i = 0; i < message->record_count; i++) {
        assign_record_get(message->records, i, &first, &count);
        if (!ranges_covers(&ledger->granted[m], first, count))
            return -1;
        if (ledger_return(ledger, m, first, count) < 0) {
            supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for the ledger");
            return 0;
        }
        sched_give_back(&supermaster->sched, count);
        supermaster->recalls.iterations += count;
        supermaster->steps.returned += count;
    }
    supermaster->recalls.count += message->record_count > 0;
    return 0;
}

/* Serves the masters that wait for recalled work first, and the giver last: it may have returned what none of its idle
 * workers may compute, and would get that again and again. */
static void serve_waiting(struct supermaster *supermaster, unsigned giver)
{
    const unsigned masters = supermaster->config.topology->masters;
    for (unsigned i = 1; i <= masters; i++) {
        const unsigned m = (giver + i) % masters;
        if (supermaster->recalls.waiting[m] > 0 && supermaster_step_free(supermaster) > 0)
            supermaster_serve_parked(supermaster, m);
    }
    for (unsigned i = 1; i <= masters; i++) {
        const unsigned m = (giver + i) % masters;
        if (supermaster->refills_parked[m] > 0 && supermaster_step_free(supermaster) > 0)
            supermaster_serve_parked(supermaster, m);
    }
}

void supermaster_receive_returned(struct supermaster *supermaster, unsigned m, const struct message *message)
{
    struct recalls *recalls = &supermaster->recalls;
    if (supermaster->losses.dismissed[m])
        return; /* a late answer: all that the master has is free again when it has left */
    if (!recalls->was_asked[m]) {
        supermaster_refuse(supermaster, "returns work that was not recalled");
        return;
    }
    recalls->open -= recalls->state[m] >= RECALL_SENT; /* else workers that took long for an iteration have answered */
    recalls->has_no_giver = false;
    recalls->state[m] =
        message->record_count > 0 || recalls->state[m] == RECALL_OUTDATED ? RECALL_POSSIBLE : RECALL_FUTILE;
    if (supermaster->state != SUPERMASTER_SERVING)
        return;
    if (take_returned(supermaster, m, message) < 0) {
        supermaster_refuse(supermaster, "returns iterations that it was not granted");
        return;
    }
    if (message->record_count > 0)
        serve_waiting(supermaster, m);
    if (supermaster->state != SUPERMASTER_SERVING)
        return;
    send_recalls(supermaster);
    for (unsigned i = 0; all_has_begun(recalls) && i < supermaster->config.topology->masters; i++)
        tell_all_has_begun(supermaster, i);
}
