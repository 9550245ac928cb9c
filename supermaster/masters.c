/* SPDX-License-Identifier: MIT */
/* Messages of masters, recall between masters, and masters that are overdue. */
#include "supermaster/core.h"

#include "common/service/boundary_list.h"
#include "common/service/poison.h"
#include "common/service/refill.h"
#include "common/util/grow.h"

#include <inttypes.h>
#include <stdlib.h>

/* Recall between masters. A master with idle workers first recalls work from its own workers. If there is nothing to
 * recall, it asks the supermaster for work that workers of other masters have not begun. The supermaster tells the
 * master that has the most work per worker to return some. The returned iterations are free again, and the technique
 * cuts them for the waiting master. If all work of a master has begun, the supermaster does not ask that master again
 * until it gets more work. */

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

static void supermaster_note_given(struct supermaster *supermaster, unsigned m)
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

static void send_recalls(struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    struct recalls *recalls = &supermaster->recalls;
    unsigned wanted = 0;
    if (recalls->has_no_giver)
        /* without this check, each request at the end of a loop would search all masters, perhaps a thousand */
        return;
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
        actions_send(supermaster->step.actions, topology->master_rank[giver],
                     &(struct message){.type = MESSAGE_RECALL, .recall = {recalls->waiting[m]}});
    }
}

static bool all_has_begun(const struct recalls *recalls)
{
    return recalls->has_no_giver && recalls->open == 0;
}

static void tell_all_has_begun(struct supermaster *supermaster, unsigned m)
{
    struct recalls *recalls = &supermaster->recalls;
    if (!all_has_begun(recalls) || recalls->waiting[m] == 0 || recalls->was_told[m])
        return;
    recalls->was_told[m] = true;
    actions_send(supermaster->step.actions, supermaster->config.topology->master_rank[m],
                 &(struct message){.type = MESSAGE_REFILL, .refill = {.empty = true, .begun = true}});
}

static void supermaster_receive_recall(struct supermaster *supermaster, unsigned m, const struct recall *recall)
{
    if (supermaster->config.distance > 0) {
        supermaster_refuse(supermaster, "has work of a loop with dependencies recalled");
        return;
    }
    if (supermaster->state != SUPERMASTER_SERVING || supermaster->refilling.parked[m] == 0)
        return;
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

static int take_returned(struct supermaster *supermaster, unsigned m, const struct message *message)
{
    struct ledger *ledger = &supermaster->ledger;
    uint64_t first, count;
    for (unsigned i = 0; i < message->record_count; i++) {
        assign_record_get(message->records, i, &first, &count);
        if (!ranges_covers(&ledger->granted[m], first, count))
            return -1;
        if (ledger_return(ledger, m, first, count) < 0) {
            supermaster_fail_for_memory(supermaster, "the ledger");
            return 0;
        }
        sched_give_back(&supermaster->technique.sched, count);
        supermaster->recalls.iterations += count;
        supermaster->steps.returned += count;
    }
    supermaster->recalls.count += message->record_count > 0;
    return 0;
}

/* Serves the waiting masters. The master that has returned the work (`giver`) comes last: its own idle workers may be
 * unable to compute that work, and the work would go back and forth without end. */
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
        if (supermaster->refilling.parked[m] > 0 && supermaster_step_free(supermaster) > 0)
            supermaster_serve_parked(supermaster, m);
    }
}

static void supermaster_receive_returned(struct supermaster *supermaster, unsigned m, const struct message *message)
{
    struct recalls *recalls = &supermaster->recalls;
    if (supermaster->losses.dismissed[m])
        return; /* the answer of a dismissed master is late; after it has left, all its iterations are released */
    if (!recalls->was_asked[m]) {
        supermaster_refuse(supermaster, "returns work that was not recalled");
        return;
    }
    /* A RETURNED may also come after the RECALL was answered: it has the work of workers that were in a long iteration.
     * Only the answer to an open RECALL changes the number of open RECALLs. */
    recalls->open -= recalls->state[m] >= RECALL_SENT;
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

/* Masters whose workers all hang. A master gives overdue chunks to another of its workers. If all its workers hang, the
 * chunks stay undone, and the other masters wait in vain at the end of the loop. The supermaster then dismisses the
 * silent master by an END. On END a master reports what is done. It declares those workers lost that do not leave, and
 * says GOODBYE. GOODBYE releases the master's other iterations. Before GOODBYE these iterations are not given to other
 * ranks. After GOODBYE the master's messages are ignored. So no iteration is committed twice.
 *
 * A worker sends results after each iteration or, if iterations are short, at least once a second. Its master reports
 * these results at once. So a master is overdue after a long silence. The limit is LEASE_FACTOR times the longest
 * silence that a master has ended with a report, but at least LEASE_MIN_NS. If no master has reported yet, the limit is
 * LEASE_UNKNOWN_NS. If workers of the silent master are idle, PATIENCE_NS are added.
 *
 * A master that reissues work is recovering by itself, so its silence is measured from then on. A dismissal may be a
 * mistake. So the silence of a dismissed master also counts when the longest silence is determined. */

#define PATIENCE_NS LEASE_UNKNOWN_NS

static void supermaster_note_grant(struct supermaster *supermaster, unsigned m)
{
    if (ranges_length(&supermaster->ledger.granted[m]) == 0)
        supermaster->losses.heard_ns[m] = supermaster->step.now_ns;
}

static void supermaster_note_report(struct supermaster *supermaster, unsigned m)
{
    struct losses *losses = &supermaster->losses;
    uint64_t silence = supermaster->step.now_ns - losses->heard_ns[m];
    losses->silence_ns = silence > losses->silence_ns ? silence : losses->silence_ns;
    losses->heard_ns[m] = supermaster->step.now_ns;
}

/* A master that recovers is silent for longer than others. Its silence is measured from now on. The silence until now
 * does not count as the longest silence, because that would raise the limit for all masters. */
static void supermaster_note_recovery_counts(struct supermaster *supermaster, unsigned m)
{
    supermaster->losses.heard_ns[m] = supermaster->step.now_ns;
}

/* Returns the number of workers of master `m` that are not lost. */
static unsigned workers_left(const struct supermaster *supermaster, unsigned m)
{
    const struct topology *topology = supermaster->config.topology;
    unsigned workers = 0;
    for (unsigned i = 0; i < topology_count(topology, m); i++)
        workers += supermaster->losses.worker[topology->served[topology_first(topology, m) + i]] != WORKER_IS_LOST;
    return workers;
}

/* Returns true if a worker of master `m` waits without a chunk. A worker may hang after it has requested a chunk ahead.
 * Such a worker counts as busy. */
static bool is_idle(const struct supermaster *supermaster, unsigned m)
{
    return supermaster->refilling.parked[m] > 0 && supermaster->refilling.busy[m] < workers_left(supermaster, m);
}

static bool service_is_idle(const struct service *service)
{
    return service->line.count > 0 && service->count.present - service->count.gone > service->count.busy;
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
    bool waits = supermaster->service.line.count > 0;
    for (unsigned m = 0; !waits && m < supermaster->config.topology->masters; m++)
        waits = supermaster->refilling.parked[m] > 0;
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
    const struct end end = {.degraded = true}; /* `late` is not set, because the workers may only be slow */
    REASON(supermaster->reasons, "rank %u is dismissed: it is silent for %.3f s while others wait",
           supermaster->config.topology->master_rank[m],
           seconds_of(supermaster->step.now_ns - supermaster->losses.heard_ns[m]));
    supermaster->losses.dismissed[m] = true;
    supermaster->losses.late = true;
    supermaster->refilling.parked[m] = 0;
    supermaster_forget_recall(supermaster, m);
    supermaster_note_report(supermaster, m);
    actions_send(supermaster->step.actions, supermaster->config.topology->master_rank[m],
                 &(struct message){.type = MESSAGE_END, .end = end});
}

static void look_at_master(struct supermaster *supermaster, unsigned m)
{
    struct losses *losses = &supermaster->losses;
    if (losses->master[m] != MASTER_SERVES || losses->dismissed[m] ||
        ranges_length(&supermaster->ledger.granted[m]) == 0 || !others_are_idle(supermaster, m))
        return;
    uint64_t due = due_ns(supermaster, m);
    if (due <= supermaster->step.now_ns)
        dismiss(supermaster, m);
    else if (due < losses->look_ns)
        losses->look_ns = due;
}

void supermaster_look_at_masters(struct supermaster *supermaster)
{
    struct losses *losses = &supermaster->losses;
    unsigned masters = supermaster->config.topology->masters;
    if (losses->look_ns > supermaster->step.now_ns || supermaster->state < SUPERMASTER_SERVING)
        return;
    losses->look_ns = NEVER;
    if (supermaster->state != SUPERMASTER_SERVING || !anybody_waits(supermaster))
        return;
    losses->look_ns = supermaster->step.now_ns + LEASE_MIN_NS;
    bool idle = false;
    for (unsigned m = 0; m < masters; m++) {
        idle |= is_idle(supermaster, m);
        look_at_master(supermaster, m);
    }
    if (idle)
        service_lose_overdue(&supermaster->service, supermaster->step.now_ns);
}

static void supermaster_let_go(struct supermaster *supermaster, unsigned m)
{
    const struct topology *topology = supermaster->config.topology;
    struct losses *losses = &supermaster->losses;
    for (unsigned i = 0; i < topology_count(topology, m); i++) {
        const unsigned w = topology->served[topology_first(topology, m) + i];
        if (losses->worker[w] == WORKER_IS_LOST)
            continue;
        losses->workers_left++;
        losses->worker[w] = WORKER_HAS_LEFT;
        supermaster->statistics[w].left_ns = supermaster->step.now_ns;
    }
}

void supermaster_note_boundary(struct supermaster *supermaster, unsigned m, const struct range *range)
{
    uint64_t end = range->first + range->count;
    if (boundary_list_move_last(&supermaster->boundaries, range->first, end, m))
        return;
    if (boundary_list_add(&supermaster->boundaries, end, m) < 0)
        supermaster_fail_for_memory(supermaster, "what was cut");
}

bool supermaster_pass_neighbour(struct supermaster *supermaster, const struct neighbour *neighbour)
{
    const struct topology *topology = supermaster->config.topology;
    unsigned before;
    if (!boundary_list_take(&supermaster->boundaries, neighbour->first, &before))
        return false;
    if (before == topology->masters)
        return service_take_neighbour(&supermaster->service, neighbour, supermaster->step.actions);
    if (supermaster->losses.master[before] == MASTER_SERVES)
        actions_send(supermaster->step.actions, topology->master_rank[before],
                     &(struct message){.type = MESSAGE_NEIGHBOUR, .neighbour = *neighbour});
    return true;
}

static void receive_neighbour(struct supermaster *supermaster, const struct message *message)
{
    if (supermaster->state >= SUPERMASTER_ENDING)
        /* If the run is ending, neighbours do not matter. The boundary may be missing because memory ran out. */
        return;
    if (supermaster_is_point(supermaster, &message->neighbour)) {
        supermaster_hand_point(supermaster, &message->neighbour, supermaster->step.from);
        return;
    }
    if (!supermaster_speaks_for(supermaster, message->neighbour.rank) ||
        !supermaster_pass_neighbour(supermaster, &message->neighbour))
        supermaster_refuse(supermaster, "told of a neighbour that cannot be");
}

struct master_refill {
    struct supermaster *supermaster;
    unsigned m;
    unsigned char *records;
    unsigned chunks;
};

/* The rate changes slowly, so it is measured only at every RATE_REFILLS-th refill. */
#define RATE_REFILLS 8

/* While a chunk is cut, the power of a later worker is prefetched, POWERS_AHEAD places further on. The workers of a
 * master may be scattered in the array of powers, and no cache can hold a million powers. */
#define POWERS_AHEAD 16

static bool master_refill_cut(void *context, unsigned i)
{
    struct master_refill *refill = context;
    struct supermaster *supermaster = refill->supermaster;
    const struct topology *topology = supermaster->config.topology;
    const unsigned place = topology_first(topology, refill->m) + i, w = topology->served[place];
    struct range range;
    if (supermaster->technique.sched.powers != NULL && place + POWERS_AHEAD < topology->workers)
        __builtin_prefetch(&supermaster->technique.sched.powers[topology->served[place + POWERS_AHEAD]]);
    if (supermaster->losses.workers_lost > 0 && supermaster->losses.worker[w] == WORKER_IS_LOST)
        return true;
    if (!supermaster_cut(supermaster, refill->m, w, &range))
        return false;
    if (supermaster->config.distance > 0)
        supermaster_note_boundary(supermaster, refill->m, &range);
    if (supermaster->service.poisons.count > 0)
        supermaster_warn(supermaster, refill->m, &range);
    chunk_record_put(refill->records, refill->chunks++,
                     &(struct chunk_record){range.first, range.count, topology->served_rank[place]});
    return true;
}

/* Returns the buffer for the records of a refill. If actions go to a sink, the records are sent before the next refill
 * is cut. All refills then share one buffer, which stays in the caches of the core. Separate buffers for a thousand
 * masters would not stay there. */
static unsigned char *room_for_refill(const struct supermaster *supermaster, unsigned m, unsigned place)
{
    if (supermaster->step.actions->sink != NULL)
        return supermaster->refilling.records[0];
    return supermaster->refilling.records[m] + (size_t)place * CHUNK_RECORD_BYTES;
}

unsigned supermaster_serve_refill(struct supermaster *supermaster, unsigned m, unsigned place)
{
    const struct topology *topology = supermaster->config.topology;
    unsigned char *records = room_for_refill(supermaster, m, place);
    struct master_refill refill = {supermaster, m, records, 0};
    supermaster_note_grant(supermaster, m);
    if (supermaster->refilling.count % RATE_REFILLS == 0)
        supermaster_note_rate(supermaster);
    refill_cut(topology_count(topology, m), supermaster_refill_size(supermaster, m), master_refill_cut, &refill);
    unsigned chunks = refill.chunks, sent = 0;
    do {
        unsigned left = chunks - sent, count = left < REFILL_MAX ? left : REFILL_MAX;
        actions_send(supermaster->step.actions, topology->master_rank[m],
                     &(struct message){
                         .type = MESSAGE_REFILL,
                         .refill = {.more = count < left, .empty = chunks == 0},
                         .records = records + (size_t)sent * CHUNK_RECORD_BYTES,
                         .record_count = count,
                     });
        sent += count;
    } while (sent < chunks);
    supermaster->refilling.parked[m] -= chunks > 0;
    if (chunks > 0) {
        struct chunk_record last;
        chunk_record_get(records, chunks - 1, &last);
        supermaster->cut.largest = last.count > supermaster->cut.largest ? last.count : supermaster->cut.largest;
        supermaster_note_given(supermaster, m);
        supermaster->losses.was_given[m] = true;
    }
    if (chunks == 0) {
        REASON(supermaster->reasons, "the refill of rank %u is parked: nothing is free", topology->master_rank[m]);
        supermaster_note_waiting(supermaster);
    }
    /* With this request the master reported how many of its workers are busy. Each chunk of the refill makes one more
     * worker busy. */
    unsigned busy = supermaster->refilling.busy[m] + chunks, workers = topology_count(topology, m);
    supermaster->refilling.busy[m] = busy < workers ? busy : workers;
    supermaster->refilling.count += chunks > 0;
    if (chunks > 0 && supermaster->cut.first_ns == NEVER)
        supermaster->cut.first_ns = supermaster->step.now_ns;
    return chunks;
}

static void receive_report(struct supermaster *supermaster, unsigned m, const struct message *message)
{
    struct done_record done;
    if (message->record_count > 0)
        supermaster_note_report(supermaster, m);
    for (unsigned i = 0; i < message->record_count; i++) {
        done_record_get(message->records, i, &done);
        if (!supermaster_commit(supermaster, m, &done)) {
            supermaster_refuse(supermaster, "sent results of iterations that were never handed out");
            return;
        }
        supermaster->refilling.reported[m] += done.count;
        if (supermaster_judges_nodes(supermaster))
            supermaster_note_outcome_of_master(supermaster, m, &done);
    }
    supermaster->refilling.busy[m] = message->report.busy;
    if (!message->report.refill || supermaster->state > SUPERMASTER_SERVING || supermaster->losses.dismissed[m])
        return;
    if (supermaster_is_joining(supermaster, m)) {
        supermaster_keep_joiners_refill(supermaster, m);
        return;
    }
    if (supermaster_is_master_aside(supermaster, m)) {
        supermaster_keep_refill(supermaster, m);
        return;
    }
    supermaster->refilling.parked[m]++;
    if (supermaster->state == SUPERMASTER_SERVING)
        supermaster_serve_refill(supermaster, m, 0);
    else if (supermaster->refilling.parked[m] > 1)
        supermaster_refuse(supermaster, "asked for a second refill before it had the first");
    else
        REASON(supermaster->reasons, "the refill of rank %u is parked: %u speeds are missing", supermaster->step.from,
               supermaster->speeds.missing);
}

void supermaster_take_statistics(struct supermaster *supermaster, const struct stats_record *record)
{
    const struct topology *topology = supermaster->config.topology;
    unsigned w = topology_worker(topology, record->worker);
    if (w == topology->workers)
        return;
    struct worker_statistics *statistics = &supermaster->statistics[w];
    statistics->iterations = record->iterations;
    statistics->chunks = record->chunks;
    statistics->compute_ns = record->compute_ns;
    statistics->wait_ns = record->wait_ns;
    statistics->finish_ns = record->finish_ns;
}

static void receive_stats(struct supermaster *supermaster, const struct message *message)
{
    struct stats_record record;
    for (unsigned i = 0; i < message->record_count; i++) {
        stats_record_get(message->records, i, &record);
        if (supermaster_speaks_for(supermaster, record.worker))
            supermaster_take_statistics(supermaster, &record);
    }
}

static bool may_leave(const struct supermaster *supermaster, unsigned m)
{
    return supermaster->state >= SUPERMASTER_ENDING || supermaster->losses.dismissed[m] ||
           workers_left(supermaster, m) == 0;
}

static void receive_goodbye(struct supermaster *supermaster, unsigned m, const struct message *message)
{
    if (!may_leave(supermaster, m)) {
        supermaster_refuse(supermaster, "sent GOODBYE before it was sent END");
        return;
    }
    if (supermaster->losses.dismissed[m])
        supermaster_let_go(supermaster, m);
    supermaster_master_left(supermaster, m);
    if (m >= supermaster->config.topology->launched)
        supermaster_note_pod_left(supermaster);
    supermaster->traffic.messages += message->goodbye.messages;
    supermaster->traffic.bytes += message->goodbye.bytes;
}

void supermaster_receive_from_master(struct supermaster *supermaster, unsigned m, const struct message *message)
{
    /* The master may already count as lost although the runtime has not reported this, because a worker has reported
     * the loss. Late reports of the master are then ignored, and the iterations in them are computed again. */
    if (supermaster->losses.master[m] != MASTER_SERVES)
        return;
    switch (message->type) {
    case MESSAGE_REPORT: receive_report(supermaster, m, message); break;
    case MESSAGE_FEEDBACK: supermaster_receive_feedback(supermaster, m, message); break;
    case MESSAGE_LOADS: supermaster_receive_loads(supermaster, message); break;
    case MESSAGE_NEIGHBOUR: receive_neighbour(supermaster, message); break;
    case MESSAGE_STATS: receive_stats(supermaster, message); break;
    case MESSAGE_GOODBYE: receive_goodbye(supermaster, m, message); break;
    case MESSAGE_WORKER_LOST: supermaster_receive_worker_lost(supermaster, m, &message->worker_lost); break;
    case MESSAGE_RECALL: supermaster_receive_recall(supermaster, m, &message->recall); break;
    case MESSAGE_RETURNED: supermaster_receive_returned(supermaster, m, message); break;
    case MESSAGE_RECOVERY_COUNTS:
        supermaster->losses.reissued += message->recovery_counts.reissued;
        supermaster->losses.duplicates += message->recovery_counts.duplicates;
        supermaster_count_recalls(supermaster, &message->recovery_counts);
        if (message->recovery_counts.reissued + message->recovery_counts.duplicates > 0)
            supermaster_note_recovery_counts(supermaster, m);
        break;
    case MESSAGE_VERIFIED: supermaster_receive_verified(supermaster, &message->verified); break;
    case MESSAGE_ITERATIONS_FAILED:
        if (supermaster_speaks_for(supermaster, message->iterations_failed.id))
            supermaster_receive_iterations_failed(supermaster, &message->iterations_failed);
        else
            supermaster_refuse(supermaster, "told of a failure of a rank that it does not serve");
        break;
    case MESSAGE_ITERATIONS_GIVEN_UP:
        supermaster_receive_iterations_given_up(supermaster, message->records, message->record_count);
        break;
    default: supermaster_receive_common(supermaster, message);
    }
}
