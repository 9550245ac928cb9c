/* SPDX-License-Identifier: MIT */
/* Messages of a master: what is done, its wish for a refill, the figures of its workers, goodbye; and what it
 * relays. */
#include "supermaster/core.h"

#include "common/service/boundary_list.h"
#include "common/service/poison.h"
#include "common/service/refill.h"

void supermaster_note_boundary(struct supermaster *supermaster, unsigned m, const struct range *range)
{
    uint64_t end = range->first + range->count;
    if (boundary_list_move_last(&supermaster->boundaries, range->first, end, m))
        return; /* the master tells its own workers of each other */
    if (boundary_list_add(&supermaster->boundaries, end, m) < 0)
        supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for what was cut");
}

bool supermaster_pass_neighbour(struct supermaster *supermaster, const struct neighbour *neighbour)
{
    const struct topology *topology = supermaster->config.topology;
    unsigned before;
    if (!boundary_list_take(&supermaster->boundaries, neighbour->first, &before))
        return false;
    if (before == topology->masters)
        return service_take_neighbour(&supermaster->service, neighbour, supermaster->actions);
    if (!supermaster->losses.master_left[before])
        actions_send(supermaster->actions, topology->master_rank[before],
                     &(struct message){.type = MESSAGE_NEIGHBOUR, .neighbour = *neighbour});
    return true;
}

static void recv_master_receive_neighbour(struct supermaster *supermaster, const struct message *message)
{
    if (supermaster->state >= SUPERMASTER_ENDING)
        return; /* neighbours no longer matter, and the boundary may not have been noted for want of memory */
    if (supermaster_is_point(supermaster, &message->neighbour)) {
        supermaster_hand_point(supermaster, &message->neighbour, supermaster->from);
        return;
    }
    if (!supermaster_speaks_for(supermaster, message->neighbour.rank) ||
        !supermaster_pass_neighbour(supermaster, &message->neighbour))
        supermaster_refuse(supermaster, "told of a neighbour that cannot be");
}

struct master_refill {
    struct supermaster *supermaster;
    unsigned m;             /* master */
    unsigned char *records; /* records of the refill */
    unsigned chunks;
};

/* The rate is looked at after so many refills: it changes slowly. */
#define RATE_REFILLS 8

/* Workers whose powers are fetched ahead: those of a master need not lie together, and no cache holds a million. */
#define POWERS_AHEAD 16

/* Cuts the next chunk for the i-th worker of the master. A lost worker gets none. */
static bool master_refill_cut(void *context, unsigned i)
{
    struct master_refill *refill = context;
    struct supermaster *supermaster = refill->supermaster;
    const struct topology *topology = supermaster->config.topology;
    const unsigned place = topology_first(topology, refill->m) + i, w = topology->served[place];
    struct range range;
    if (supermaster->sched.powers != NULL && place + POWERS_AHEAD < topology->workers)
        __builtin_prefetch(&supermaster->sched.powers[topology->served[place + POWERS_AHEAD]]);
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

/* The room for the records of a refill. What a sink takes has left when the next refill is cut: then all use the same
 * room, which stays in the caches, where rooms of their own for a thousand masters would not. */
static unsigned char *room_for_refill(const struct supermaster *supermaster, unsigned m, unsigned place)
{
    if (supermaster->actions->sink != NULL)
        return supermaster->refill_records[0];
    return supermaster->refill_records[m] + (size_t)place * CHUNK_RECORD_BYTES;
}

/* Serves the oldest parked refill: one chunk for each worker of the master, weighted by that worker's power, or as many
 * times that as is wanted. */
unsigned supermaster_serve_refill(struct supermaster *supermaster, unsigned m, unsigned place)
{
    const struct topology *topology = supermaster->config.topology;
    unsigned char *records = room_for_refill(supermaster, m, place);
    struct master_refill refill = {supermaster, m, records, 0};
    supermaster_note_grant(supermaster, m);
    if (supermaster->refills % RATE_REFILLS == 0)
        supermaster_note_rate(supermaster);
    refill_cut(topology_count(topology, m), supermaster_refill_size(supermaster, m), master_refill_cut, &refill);
    unsigned chunks = refill.chunks, sent = 0;
    do { /* in parts; where there are no chunks one part says so */
        unsigned left = chunks - sent, count = left < REFILL_MAX ? left : REFILL_MAX;
        actions_send(supermaster->actions, topology->master_rank[m],
                     &(struct message){
                         .type = MESSAGE_REFILL,
                         .refill = {.more = count < left, .empty = chunks == 0},
                         .records = records + (size_t)sent * CHUNK_RECORD_BYTES,
                         .record_count = count,
                     });
        sent += count;
    } while (sent < chunks);
    supermaster->refills_parked[m] -= chunks > 0;
    if (chunks > 0) {
        struct chunk_record last;
        chunk_record_get(records, chunks - 1, &last);
        supermaster->largest_chunk = last.count > supermaster->largest_chunk ? last.count : supermaster->largest_chunk;
        supermaster_note_given(supermaster, m);
        supermaster->losses.was_given[m] = true;
    }
    if (chunks == 0) {
        REASON(supermaster->reasons, "the refill of rank %u is parked: nothing is free", topology->master_rank[m]);
        supermaster_note_waiting(supermaster);
    }
    /* Counts the master's workers as busy again: it sent the request when it ran dry, and gets chunks now. */
    unsigned busy = supermaster->busy[m] + chunks, workers = topology_count(topology, m);
    supermaster->busy[m] = busy < workers ? busy : workers;
    supermaster->refills += chunks > 0;
    if (chunks > 0 && supermaster->first_assign_ns == NEVER)
        supermaster->first_assign_ns = supermaster->now_ns;
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
        supermaster->reported[m] += done.count;
        if (supermaster_judges_nodes(supermaster))
            supermaster_note_outcome_of_master(supermaster, m, &done);
    }
    supermaster->busy[m] = message->report.busy;
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
    supermaster->refills_parked[m]++;
    if (supermaster->state == SUPERMASTER_SERVING)
        supermaster_serve_refill(supermaster, m, 0);
    else if (supermaster->refills_parked[m] > 1)
        supermaster_refuse(supermaster, "asked for a second refill before it had the first");
    else
        REASON(supermaster->reasons, "the refill of rank %u is parked: %u speeds are missing", supermaster->from,
               supermaster->speeds_missing);
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

static void recv_master_receive_goodbye(struct supermaster *supermaster, unsigned m, const struct message *message)
{
    if (supermaster->losses.dismissed[m])
        supermaster_let_go(supermaster, m);
    supermaster_master_left(supermaster, m);
    if (m >= supermaster->config.topology->launched)
        supermaster_note_pod_left(supermaster);
    supermaster->messages += message->goodbye.messages;
    supermaster->bytes += message->goodbye.bytes;
}

void supermaster_receive_from_master(struct supermaster *supermaster, unsigned m, const struct message *message)
{
    if (supermaster->losses.master_left[m])
        return; /* a worker has told of its end before the runtime did: what it reported late is computed again */
    switch (message->type) {
    case MESSAGE_REPORT: receive_report(supermaster, m, message); break;
    case MESSAGE_FEEDBACK: supermaster_receive_feedback(supermaster, m, message); break;
    case MESSAGE_LOADS: supermaster_receive_loads(supermaster, message); break;
    case MESSAGE_NEIGHBOUR: recv_master_receive_neighbour(supermaster, message); break;
    case MESSAGE_STATS: receive_stats(supermaster, message); break;
    case MESSAGE_GOODBYE: recv_master_receive_goodbye(supermaster, m, message); break;
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
