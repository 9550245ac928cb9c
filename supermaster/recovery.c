/* SPDX-License-Identifier: MIT */
/* A loop with dependencies goes on where a worker or a master was lost.
 *
 * With a worker go boundary data that others wait for, and perhaps results that were on their way; and whoever is
 * behind it waits in the middle of a chunk, so that nobody might be left to compute what is missing. So the loop is
 * quiesced: each loss begins a new *recovery epoch*. All are told to quiesce (QUIESCE) and answer when they do
 * (QUIESCED), behind all that they had sent: the chunks that they have finished are then known, and committed, the
 * others are nobody's any more. The loop goes on (RESTART) from a boundary whose boundary data a worker still has, and
 * chunks are cut from there on in ascending order, as ever.
 *
 * Which boundary data there are: a worker keeps those of its latest finished chunks that it has handed over to others
 * (HALO_SENDS_KEPT), and all that it has not handed over yet. As chunks finish in their order, the worker whose chunk
 * ends where those of the lost one begin has not finished a later one, and has these data; it may only have let them go
 * where the lost worker's results were on their way for longer than it took that worker to finish so many more chunks.
 * If it has, or is lost, too, a boundary before is taken, in the end the beginning of the loop, for which there is no
 * need of any.
 *
 * What lies between that boundary and the first iteration that is not done is computed again for its boundary data
 * alone, and so is what was done behind it: its results are the same, and are dropped (LEDGER_DUPLICATE). No chunk has
 * both what is done and what is not, so that it is one or the other; as all boundaries are those of chunks of the epoch
 * at hand or of the one where it began, both are never shorter than the distance of the dependences.
 *
 * That a run always ends holds in each epoch as it is shown in common/service/order.c, with the boundary for the
 * beginning of the loop, and there are no more epochs than ranks. No message of one epoch is taken for one of
 * another: those between two ranks of the tree arrive in their order, on both sides of QUIESCED and RESTART; those
 * between workers say the epoch, and as none is sent before all are quiesced nobody gets one of a round that it has not
 * heard of.
 *
 * With a master goes what it had not reported, and what it knew of whose chunks meet. Neither is asked for: in the new
 * epoch all that is not reported is nobody's, and no chunk meets another. Its workers give their chunks up by
 * themselves when they find out; they come by an ADOPT, are told to quiesce, and the loop stands still until all of
 * them have come or are lost, so that none is in an earlier epoch when it goes on. Then the supermaster's own service
 * has them, which is one more holder of chunks beside the masters: its chunks are cut in their turn, and it is told of
 * neighbours, and tells of them, as a master is and does (supermaster_pass_neighbour()). A worker comes in another
 * state only if the supermaster is GATHERING, or was when the master was lost; no chunk was cut for that master, and
 * the worker asks like one that begins. */
#include "supermaster/core.h"

#include "common/service/boundary_list.h"
#include "common/service/poison.h"
#include "common/service/service.h"
#include "common/util/grow.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

int supermaster_recovery_make_room(struct supermaster *supermaster, const struct room *room)
{
    struct recovery *recovery = &supermaster->recovery;
    return grow_to(&recovery->is_quiesced, room->masters.before, room->masters.now, sizeof *recovery->is_quiesced);
}

void supermaster_recovery_fini(struct supermaster *supermaster)
{
    free(supermaster->recovery.is_quiesced);
    boundary_list_fini(&supermaster->recovery.checkpoints);
}

static void recovery_fail_without_memory(struct supermaster *supermaster)
{
    supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for what was lost");
}

static void send_to_masters(struct supermaster *supermaster, const struct message *message)
{
    const struct topology *topology = supermaster->config.topology;
    for (unsigned m = 0; m < topology->masters; m++)
        if (!supermaster->losses.master_left[m])
            actions_send(supermaster->actions, topology->master_rank[m], message);
}

/* --- standing still --- */

void supermaster_quiesce(struct supermaster *supermaster, unsigned rank)
{
    struct recovery *recovery = &supermaster->recovery;
    if (supermaster->state == SUPERMASTER_GATHERING)
        return; /* no chunk has been cut */
    if (supermaster->state == SUPERMASTER_SERVING)
        supermaster_move(supermaster, SUPERMASTER_QUIESCED);
    const struct message message = {.type = MESSAGE_QUIESCE, .quiesce = {++recovery->number, rank}};
    recovery->checkpoints.count = supermaster->boundaries.count = 0;
    supermaster_forget_point(supermaster);
    for (unsigned m = 0; m < supermaster->config.topology->masters; m++) {
        recovery->is_quiesced[m] = false;
        supermaster->refills_parked[m] = 0;
    }
    send_to_masters(supermaster, &message);
    service_quiesce(&supermaster->service, &message.quiesce, supermaster->actions);
}

/* Notes the worker's boundary data, up to the first that cannot be. */
static void note_checkpoints(struct supermaster *supermaster, const struct message *message)
{
    const struct supermaster_config *config = &supermaster->config;
    for (unsigned i = 0; i < message->record_count; i++) {
        uint64_t boundary_at = boundary_record_get(message->records, i);
        if (boundary_at <= config->first || boundary_at >= config->first + config->count) {
            supermaster_refuse(supermaster, "has boundary data where no chunk ends");
            return;
        }
        if (boundary_list_add(&supermaster->recovery.checkpoints, boundary_at, message->quiesced.rank) < 0)
            recovery_fail_without_memory(supermaster);
    }
}

void supermaster_receive_quiesced(struct supermaster *supermaster, const struct message *message)
{
    const struct quiesced *quiesced = &message->quiesced;
    const struct topology *topology = supermaster->config.topology;
    unsigned m = topology_master(topology, supermaster->from), w = topology_worker(topology, quiesced->rank);
    if (!supermaster_speaks_for(supermaster, quiesced->rank)) {
        supermaster_refuse(supermaster, "stands still for a rank that it does not serve");
        return;
    }
    if (supermaster->state != SUPERMASTER_QUIESCED || quiesced->epoch != supermaster->recovery.number)
        return; /* another worker was lost since, or the run ends */
    if (quiesced->rank != supermaster->from)
        note_checkpoints(supermaster, message);
    else if (m < topology->masters)
        supermaster->recovery.is_quiesced[m] = true;
    else if (service_take_quiesced(&supermaster->service, w, quiesced))
        note_checkpoints(supermaster, message);
    supermaster_recheck(supermaster);
}

void supermaster_quiesce_adopted(struct supermaster *supermaster, unsigned w)
{
    const struct losses *losses = &supermaster->losses;
    for (unsigned i = 0; i < losses->count; i++)
        service_tell_quiesce(&supermaster->service, w,
                             &(struct quiesce){supermaster->recovery.number, losses->list[i].rank},
                             supermaster->actions);
}

static bool all_are_quiesced(const struct supermaster *supermaster)
{
    for (unsigned m = 0; m < supermaster->config.topology->masters; m++)
        if (!supermaster->losses.master_left[m] && !supermaster->recovery.is_quiesced[m])
            return false;
    return service_is_quiesced(&supermaster->service) && supermaster->losses.orphans == 0;
}

/* --- going on --- */

/* Frees all work that is not done. */
static void release_all(struct supermaster *supermaster)
{
    uint64_t released;
    for (unsigned holder = 0; holder < supermaster->holders; holder++) {
        supermaster->losses.reissued += ranges_length(&supermaster->ledger.granted[holder]);
        if (ledger_release(&supermaster->ledger, holder, &released) < 0)
            recovery_fail_without_memory(supermaster);
        sched_give_back(&supermaster->sched, released);
    }
}

/* The last boundary, not behind `first`, whose boundary data a worker has, or the supermaster of an earlier run, and
 * its rank. */
static struct restart find_boundary(const struct supermaster *supermaster, uint64_t first)
{
    const struct topology *topology = supermaster->config.topology;
    const struct recovery *recovery = &supermaster->recovery;
    struct restart restart = {.epoch = recovery->number};
    for (size_t i = 0; i < recovery->checkpoints.count; i++) {
        const struct boundary_side *checkpoint = &recovery->checkpoints.list[i];
        bool lives = supermaster->losses.worker[topology_worker(topology, checkpoint->who)] == WORKER_IS_ALIVE;
        if (lives && checkpoint->first <= first && checkpoint->first > restart.first)
            restart = (struct restart){recovery->number, checkpoint->who, checkpoint->first};
    }
    if (supermaster->config.point_at <= first && supermaster->config.point_at > restart.first)
        restart = (struct restart){recovery->number, topology->supermaster, supermaster->config.point_at};
    return restart;
}

static void recovery_restart(struct supermaster *supermaster, const struct restart *restart)
{
    const struct topology *topology = supermaster->config.topology;
    const struct message message = {.type = MESSAGE_RESTART, .restart = *restart};
    const unsigned w = topology_worker(topology, restart->rank);
    if (restart->first > 0 && w < topology->workers && !is_central(supermaster)) {
        const unsigned m = supermaster->service.workers[w].present ? topology->masters : topology->master_of[w];
        if (boundary_list_add(&supermaster->boundaries, restart->first, m) < 0)
            recovery_fail_without_memory(supermaster);
    }
    assert((restart->first == 0 || w < topology->workers || restart->first == supermaster->config.point_at) &&
           "boundary data are with a worker, or those of the earlier run");
    supermaster->recovery.next = restart->first > 0 ? restart->first : supermaster->config.first;
    supermaster_move(supermaster, SUPERMASTER_SERVING);
    send_to_masters(supermaster, &message);
    service_restart(&supermaster->service, restart, supermaster->actions);
}

void supermaster_restart_if_due(struct supermaster *supermaster)
{
    if (supermaster->state != SUPERMASTER_QUIESCED || !all_are_quiesced(supermaster) ||
        ledger_is_complete(&supermaster->ledger) || supermaster_has_no_worker(supermaster))
        return;
    release_all(supermaster);
    if (supermaster->state != SUPERMASTER_QUIESCED)
        return; /* memory is out */
    const struct restart from = find_boundary(supermaster, ranges_at(&supermaster->ledger.free, 0)->first);
    if (from.first > 0)
        REASON(supermaster->reasons, "the loop goes on from %" PRIu64 ": rank %u has kept its boundary data",
               from.first, from.rank);
    else
        REASON(supermaster->reasons, "the loop begins again: nobody has kept boundary data before what is not done");
    recovery_restart(supermaster, &from);
}

/* --- cutting in order --- */

/* The size of the next chunk of `left` iterations from `first` on: neither it nor the rest is below the distance,
 * unless all of them are, or the loop ends with the rest. What lies behind the rest is done, or is given up. */
static uint64_t piece_of(const struct supermaster *supermaster, uint64_t first, uint64_t left, uint64_t want)
{
    const struct range *loop = &supermaster->ledger.loop;
    const uint64_t least = supermaster->config.distance, count = want > least ? want : least;
    const bool is_last = first - loop->first + left == loop->count;
    return count < left && (is_last || left - count >= least) ? count : left;
}

/* The number of iterations to grant from `first` on. Where workers were lost with these one after the other it is the
 * least, so that it becomes known which of them it is. */
static uint64_t careful_want(const struct supermaster *supermaster, uint64_t first, uint64_t want)
{
    struct poison known;
    const struct range range = {first, want > 0 ? want : 1};
    poison_look(&supermaster->service.poisons, &range, &known);
    return known.deaths >= ISOLATED_DEATHS ? 1 : want;
}

static void recovery_settle(struct supermaster *supermaster, uint64_t want, uint64_t got)
{
    if (got > want)
        sched_claim(&supermaster->sched, got - want);
    else
        sched_give_back(&supermaster->sched, want - got);
}

bool supermaster_cut_in_order(struct supermaster *supermaster, unsigned holder, uint64_t want, struct range *range)
{
    struct recovery *recovery = &supermaster->recovery;
    struct ledger *ledger = &supermaster->ledger;
    int granted = 1;
    if (ranges_length(&ledger->free) == 0) {
        recovery_settle(supermaster, want, 0);
        return false;
    }
    const struct range free = *ranges_at(&ledger->free, 0);
    if (free.first > recovery->next) {
        const uint64_t few = careful_want(supermaster, recovery->next, want), first = recovery->next;
        *range = (struct range){first, piece_of(supermaster, first, free.first - first, few)};
        recovery_settle(supermaster, want, 0);
    } else {
        const uint64_t few = careful_want(supermaster, free.first, want);
        granted = ledger_grant(ledger, holder, piece_of(supermaster, free.first, free.count, few), range);
        recovery_settle(supermaster, want, granted > 0 ? range->count : 0);
    }
    if (granted < 0)
        supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for the ledger");
    if (granted <= 0)
        return false;
    recovery->next = range->first + range->count;
    return true;
}
