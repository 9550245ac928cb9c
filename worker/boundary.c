/* SPDX-License-Identifier: MIT */
/* Boundary data in a loop with dependencies: what a chunk hands to the one behind it goes straight to the worker that
 * computes that one.
 *
 * The executor has the data; here it is only known which of them are complete, sent, and come. While it is not known
 * who is behind a chunk its data are kept, and leave in one message as soon as it is; where this worker is itself
 * behind it nothing is sent. What has all been sent of a chunk that is finished is kept until HANDOVERS_KEPT later ones
 * are, and then released.
 *
 * When another worker is lost the loop is halted, and goes on from boundary data that were kept: they are handed over
 * once more, to whoever has the chunk behind them then. What comes of an earlier round is dropped. */
#include "worker/core.h"

#include <assert.h>
#include <string.h>

/* In one message, which is to fit PAYLOAD_MAX. */
#define PIECE_MAX (1u << 30)

static struct handover *find_handover(struct worker *worker, uint64_t seam)
{
    struct boundaries *boundaries = worker->config.boundaries;
    for (unsigned i = boundaries != NULL ? boundaries->handover_count : 0; i-- > 0;)
        if (boundaries->handovers[i].seam == seam)
            return &boundaries->handovers[i];
    return NULL;
}

static void remove_handover(struct worker *worker, struct handover *handover)
{
    struct boundaries *boundaries = worker->config.boundaries;
    assert(boundaries->handover_count > 0 && "what is removed is there");
    size_t behind = (size_t)(&boundaries->handovers[--boundaries->handover_count] - handover);
    memmove(handover, handover + 1, behind * sizeof *handover);
}

static struct coming *find_coming(struct worker *worker, uint64_t first)
{
    struct boundaries *boundaries = worker->config.boundaries;
    for (unsigned i = 0; i < boundaries->coming_count; i++)
        if (boundaries->coming[i].first == first)
            return &boundaries->coming[i];
    return NULL;
}

static bool is_through(const struct worker *worker, const struct handover *handover)
{
    return handover->finished && handover->known && handover->to != worker->config.rank &&
           handover->sent == handover->bytes;
}

/* Of those that are through the latest are kept. */
static void let_go(struct worker *worker, struct actions *actions)
{
    struct boundaries *boundaries = worker->config.boundaries;
    unsigned kept = 0;
    for (unsigned i = boundaries->handover_count; i-- > 0;) {
        struct handover *handover = &boundaries->handovers[i];
        if (!is_through(worker, handover) || ++kept <= HANDOVERS_KEPT)
            continue;
        actions_add(actions, &(struct action){.type = ACTION_RELEASE, .seam = handover->seam});
        remove_handover(worker, handover);
    }
}

/* Sends what is complete, and lets go what is over. */
static void hand_over(struct worker *worker, struct handover *handover, struct actions *actions)
{
    if (!handover->known || handover->to == worker->config.rank)
        return;
    for (uint64_t bytes; (bytes = handover->bytes - handover->sent) > 0; handover->sent += bytes) {
        bytes = bytes < PIECE_MAX ? bytes : PIECE_MAX;
        const struct message message = {
            .type = MESSAGE_BOUNDARY,
            .payload = bytes <= INLINE_MAX ? PAYLOAD_INLINE : PAYLOAD_DATA,
            .payload_data = (const unsigned char *)handover->data + handover->sent,
            .payload_bytes = bytes,
            .boundary = {handover->seam, handover->sent, worker->config.boundaries->round},
        };
        actions_send(actions, handover->to, &message);
    }
    if (handover->finished)
        let_go(worker, actions);
}

/* The chunk before it may be with this worker, too. False where another was said to be behind that. */
static bool note_own_successor(struct worker *worker, uint64_t first)
{
    struct handover *before = find_handover(worker, first);
    if (before == NULL)
        return true;
    if (before->known)
        return false;
    before->known = true;
    before->to = worker->config.rank;
    return true;
}

int worker_expect_chunk(struct worker *worker, const struct assigned *chunk)
{
    struct boundaries *boundaries = worker->config.boundaries;
    unsigned count = boundaries->handover_count;
    const struct handover *last = count > 0 ? &boundaries->handovers[count - 1] : NULL;
    uint64_t end = chunk->first + chunk->count;
    if (end > worker->config.end || count == HANDOVERS_MAX || (last != NULL && last->seam > chunk->first) ||
        !note_own_successor(worker, chunk->first))
        return -1;
    if (end < worker->config.end) /* else there is nothing behind it */
        boundaries->handovers[boundaries->handover_count++] = (struct handover){.seam = end};
    return 0;
}

static bool is_another_worker(const struct worker *worker, unsigned rank)
{
    const struct topology *topology = worker->config.topology;
    return worker_is_dependent(worker) && rank != worker->config.rank &&
           topology_worker(topology, rank) < topology->workers;
}

int worker_take_neighbour(struct worker *worker, const struct neighbour *neighbour, struct actions *actions)
{
    struct handover *handover = find_handover(worker, neighbour->first);
    if (handover == NULL || handover->known || !is_another_worker(worker, neighbour->rank))
        return -1;
    handover->known = true;
    handover->to = neighbour->rank;
    hand_over(worker, handover, actions);
    return 0;
}

/* What is known of the data for that chunk, from now on at least; NULL where they cannot be so many. */
static struct coming *expect_coming(struct worker *worker, uint64_t first, unsigned from)
{
    struct boundaries *boundaries = worker->config.boundaries;
    struct coming *coming = find_coming(worker, first);
    if (coming != NULL || boundaries->coming_count == COMING_MAX)
        return coming;
    coming = &boundaries->coming[boundaries->coming_count++];
    *coming = (struct coming){.first = first, .from = from};
    return coming;
}

/* They were sent before their sender was told to stand still. */
static void drop_late(unsigned from, const struct message *message, struct actions *actions)
{
    if (message->payload != PAYLOAD_DATA)
        return;
    actions_add(actions, &(struct action){
                             .type = ACTION_BOUNDARY,
                             .boundary = {.bytes = message->payload_bytes, .from = from, .is_late = true},
                         });
}

int worker_take_boundary(struct worker *worker, unsigned from, const struct message *message, struct actions *actions)
{
    const struct boundary *boundary = &message->boundary;
    uint64_t all = worker->config.boundary_bytes;
    if (!is_another_worker(worker, from) || boundary->first >= worker->config.end || boundary->offset > all ||
        message->payload_bytes > all - boundary->offset)
        return -1;
    if (boundary->round != worker->config.boundaries->round) {
        drop_late(from, message, actions);
        return 0;
    }
    struct coming *coming = expect_coming(worker, boundary->first, from);
    if (coming == NULL || coming->from != from || coming->bytes != boundary->offset)
        return -1;
    coming->bytes += message->payload_bytes;
    actions_add(actions, &(struct action){
                             .type = ACTION_BOUNDARY,
                             .boundary = {.first = boundary->first,
                                          .offset = boundary->offset,
                                          .data = message->payload == PAYLOAD_INLINE ? message->payload_data : NULL,
                                          .bytes = message->payload_bytes,
                                          .from = from},
                         });
    return 0;
}

void worker_begin_boundary(struct worker *worker, struct actions *actions)
{
    struct handover *before = find_handover(worker, worker->running.first);
    if (before == NULL)
        return;
    actions_add(actions, &(struct action){.type = ACTION_INHERIT, .seam = before->seam});
    before->inherited = true;
}

void worker_note_edge(struct worker *worker, const struct edge_event *edge, struct actions *actions)
{
    struct handover *handover = find_handover(worker, edge->seam);
    if (handover == NULL)
        return; /* the worker has been told to end */
    handover->data = edge->data;
    handover->bytes = edge->bytes;
    hand_over(worker, handover, actions);
}

/* All that came for it is used, and all that it hands over is complete. */
void worker_end_boundary(struct worker *worker, struct actions *actions)
{
    struct boundaries *boundaries = worker->config.boundaries;
    struct coming *coming = find_coming(worker, worker->running.first);
    struct handover *before = find_handover(worker, worker->running.first);
    if (coming != NULL)
        *coming = boundaries->coming[--boundaries->coming_count];
    if (before != NULL && before->inherited)
        remove_handover(worker, before);
    struct handover *handover = find_handover(worker, worker->running.first + worker->running.count);
    assert((coming == NULL || coming->from != worker->config.rank) && "own boundary data are inherited, not sent");
    if (handover == NULL)
        return; /* the loop ends there */
    handover->finished = true;
    hand_over(worker, handover, actions);
}

void worker_halt_boundaries(struct worker *worker, const struct halt *halt, struct actions *actions)
{
    struct boundaries *boundaries = worker->config.boundaries;
    struct actions_room *room = &actions->room;
    unsigned kept = 0;
    for (unsigned i = 0; i < boundaries->handover_count; i++) {
        const struct handover handover = boundaries->handovers[i];
        if (!handover.finished)
            continue;
        room->aside[kept] = handover.seam;
        seam_record_put(room->seams, kept, handover.seam);
        boundaries->handovers[kept++] =
            (struct handover){.seam = handover.seam, .finished = true, .data = handover.data, .bytes = handover.bytes};
    }
    boundaries->handover_count = kept;
    boundaries->coming_count = 0;
    boundaries->round = halt->round;
    actions_add(actions, &(struct action){.type = ACTION_HALT, .halt = {room->aside, kept, halt->rank}});
    actions_send(actions, worker->config.master,
                 &(struct message){.type = MESSAGE_HALTED,
                                   .halted = {halt->round, worker->config.rank},
                                   .records = room->seams,
                                   .record_count = kept});
}

int worker_restart_boundaries(struct worker *worker, const struct restart *restart, struct actions *actions)
{
    struct boundaries *boundaries = worker->config.boundaries;
    bool wanted = restart->first > 0 && restart->rank == worker->config.rank;
    const struct handover *kept = wanted ? find_handover(worker, restart->first) : NULL;
    if (wanted && kept == NULL)
        return -1;
    if (wanted)
        boundaries->handovers[0] = *kept;
    boundaries->handover_count = wanted;
    actions_add(actions, &(struct action){.type = ACTION_RESTART, .seam = wanted ? restart->first : 0});
    return 0;
}
