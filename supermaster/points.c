/* SPDX-License-Identifier: MIT */
/* Recovery points: what a loop with dependencies is resumed from.
 *
 * That iterations are done is in the journal as of any loop. But who goes on behind them needs the boundary data of the
 * chunk before, and those are with a worker, which ends with the run. So now and then the supermaster asks for the
 * boundary data of the lowest chunk that is not done, the next one to be finished, and has them recorded, too: a
 * *recovery point*. It asks by a NEIGHBOUR that names itself as the rank behind the boundary, which a master passes on
 * to the worker of that chunk; a copy of the data comes up the tree as BOUNDARY messages when the chunk is finished.
 * Nothing depends on an answer: a worker that has let the data go sends none, and later another chunk is asked for.
 *
 * The loss of a rank ends the run (losses.c), as nobody else has its boundary data. A run that is resumed goes on from
 * a boundary whose data the journal has, and which is not behind the first iteration that is not done. The iterations
 * from there on that are done are computed again, as others need their boundary data; their results are the same, and
 * are dropped (LEDGER_DUPLICATE). A chunk has either iterations that are done or others, never both. The supermaster
 * sends the data to the rank that gets the chunk behind the boundary. Without a recovery point the run goes on from the
 * beginning of the loop in this way.
 *
 * Points cost at most a fiftieth of the time that one of them takes to come. */
#include "common/service/poison.h"
#include "common/service/service.h"
#include "supermaster/core.h"

/* The least time from one request to the next. */
#define POINT_INTERVAL_NS 200000000u

/* The time from one request to the next, in times that the data of a point have taken from the first to the last. */
#define POINT_TIMES 50

void supermaster_points_init(struct supermaster *supermaster)
{
    const struct supermaster_config *config = &supermaster->config;
    supermaster->points.due_ns = config->journal && config->distance > 0 ? 0 : NEVER;
    supermaster->points.interval_ns = POINT_INTERVAL_NS;
    supermaster->points.next = config->point_at > 0 ? config->point_at : config->first;
}

/* --- asking --- */

/* The holder of the lowest iterations that are granted and not done, with the first of these; the number of holders
 * where none holds any. */
static unsigned find_lowest(const struct supermaster *supermaster, uint64_t *first)
{
    const unsigned holders = supermaster->holders;
    unsigned found = holders;
    *first = 0;
    for (unsigned m = 0; m < holders; m++) {
        const struct ranges *granted = &supermaster->ledger.granted[m];
        if (ranges_length(granted) == 0 || (found < holders && ranges_at(granted, 0)->first > *first))
            continue;
        *first = ranges_at(granted, 0)->first;
        found = m;
    }
    return found;
}

void supermaster_ask_for_point(struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    struct points *points = &supermaster->points;
    struct neighbour neighbour = {.rank = topology->supermaster};
    if (supermaster->state != SUPERMASTER_SERVING || supermaster->chunks == 0)
        return;
    points->due_ns = supermaster->now_ns + points->interval_ns;
    if (is_central(supermaster))
        service_ask_for_boundary(&supermaster->service, 0, topology->supermaster, supermaster->actions);
    else {
        const unsigned m = find_lowest(supermaster, &neighbour.first);
        neighbour.first++; /* the chunk of this iteration ends there, or behind it */
        if (m < topology->masters)
            actions_send(supermaster->actions, topology->master_rank[m],
                         &(struct message){.type = MESSAGE_NEIGHBOUR, .neighbour = neighbour});
        else if (m < supermaster->holders)
            service_ask_for_boundary(&supermaster->service, neighbour.first, topology->supermaster,
                                     supermaster->actions);
    }
}

/* --- recording --- */

/* Begins with the point whose first data these are, unless another one is on its way. */
static void begin_point(struct supermaster *supermaster, const struct boundary *boundary)
{
    struct points *points = &supermaster->points;
    if (points->at > 0 || boundary->offset > 0 || boundary->first == points->latest)
        return;
    points->at = boundary->first;
    points->bytes = 0;
    points->began_ns = supermaster->now_ns;
}

static void end_point(struct supermaster *supermaster)
{
    struct points *points = &supermaster->points;
    const uint64_t taken_ns = supermaster->now_ns - points->began_ns, due_ns = points->due_ns - points->interval_ns;
    points->latest = points->at;
    points->interval_ns = POINT_TIMES * taken_ns > POINT_INTERVAL_NS ? POINT_TIMES * taken_ns : POINT_INTERVAL_NS;
    points->due_ns = due_ns + points->interval_ns;
    points->at = points->bytes = 0;
}

void supermaster_receive_boundary(struct supermaster *supermaster, const struct message *message)
{
    const struct supermaster_config *config = &supermaster->config;
    const struct boundary *boundary = &message->boundary;
    const uint64_t bytes = message->payload_bytes;
    struct points *points = &supermaster->points;
    if (!config->journal || config->distance == 0 || message->payload != PAYLOAD_INLINE ||
        boundary->first <= config->first || boundary->first >= config->first + config->count ||
        boundary->offset > config->boundary_bytes || bytes > config->boundary_bytes - boundary->offset) {
        supermaster_refuse(supermaster, "sent boundary data that cannot be");
        return;
    }
    if (supermaster->state != SUPERMASTER_SERVING)
        return;
    begin_point(supermaster, boundary);
    if (boundary->first != points->at || boundary->offset != points->bytes)
        return;
    actions_add(supermaster->actions,
                &(struct action){
                    .type = ACTION_POINT,
                    .point = {points->at, points->bytes, message->payload_data, bytes, config->boundary_bytes},
                });
    points->bytes += bytes;
    if (points->bytes == config->boundary_bytes)
        end_point(supermaster);
}

/* --- going on from one --- */

void supermaster_hand_point(const struct supermaster *supermaster, const struct neighbour *neighbour, unsigned to)
{
    const struct supermaster_config *config = &supermaster->config;
    uint64_t bytes;
    for (uint64_t sent = 0; sent < config->boundary_bytes; sent += bytes) {
        bytes = config->boundary_bytes - sent < INLINE_MAX ? config->boundary_bytes - sent : INLINE_MAX;
        actions_send(supermaster->actions, to,
                     &(struct message){
                         .type = MESSAGE_BOUNDARY,
                         .payload = PAYLOAD_INLINE,
                         .payload_data = config->point + sent,
                         .payload_bytes = bytes,
                         .boundary = {neighbour->first, sent},
                     });
    }
}

bool supermaster_is_point(const struct supermaster *supermaster, const struct neighbour *neighbour)
{
    return supermaster->config.point_at > 0 && supermaster->config.point_at == neighbour->first;
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

/* The number of iterations to grant from `first` on. It is the least if several workers were lost while they computed
 * these: then it becomes known which iteration it is. */
static uint64_t careful_want(const struct supermaster *supermaster, uint64_t first, uint64_t want)
{
    struct poison known;
    const struct range range = {first, want > 0 ? want : 1};
    poison_look(&supermaster->service.poisons, &range, &known);
    return known.deaths >= ISOLATED_DEATHS ? 1 : want;
}

static void settle(struct supermaster *supermaster, uint64_t want, uint64_t got)
{
    if (got > want)
        sched_claim(&supermaster->sched, got - want);
    else
        sched_give_back(&supermaster->sched, want - got);
}

bool supermaster_cut_in_order(struct supermaster *supermaster, unsigned holder, uint64_t want, struct range *range)
{
    struct points *points = &supermaster->points;
    struct ledger *ledger = &supermaster->ledger;
    int granted = 1;
    if (ranges_length(&ledger->free) == 0) {
        settle(supermaster, want, 0);
        return false;
    }
    const struct range free = *ranges_at(&ledger->free, 0);
    if (free.first > points->next) {
        const uint64_t few = careful_want(supermaster, points->next, want), first = points->next;
        *range = (struct range){first, piece_of(supermaster, first, free.first - first, few)};
        settle(supermaster, want, 0);
    } else {
        const uint64_t few = careful_want(supermaster, free.first, want);
        granted = ledger_grant(ledger, holder, piece_of(supermaster, free.first, free.count, few), range);
        settle(supermaster, want, granted > 0 ? range->count : 0);
    }
    if (granted < 0)
        supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for the ledger");
    if (granted <= 0)
        return false;
    points->next = range->first + range->count;
    return true;
}
