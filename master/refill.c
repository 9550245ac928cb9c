/* SPDX-License-Identifier: MIT */
/* When to ask for the next refill: early enough that no worker waits for the supermaster, and no earlier, because a
 * chunk in one master's pool is out of reach for the workers of the others.
 *
 * The low-water mark follows what is measured: the pool, and what is on its way to it, must last for one round trip to
 * the supermaster. With one chunk handed out every `gap`, that is round_trip / gap chunks; half as many again are kept
 * to spare. A refill has one chunk for each worker, so that where chunks are shorter than the round trip several are
 * open at a time: as long as workers are kept waiting the gap is what the supply makes it, and each further refill
 * shortens it.
 *
 * The gap tells how fast chunks go, not for how long they will. Where equal chunks end together, a master's workers ask
 * one behind the other and then, with all of them busy, not at all for a long time: the gap within such a burst is no
 * rate at which the master must be supplied. How long a refill lasts is what counts then, since in that time each
 * worker asks about once. Where that is so long that a round trip is below 2 % of it, the next refill is asked for by
 * the first request that finds the pool empty: a worker that waits then loses no more than that. */
#include "master/core.h"

/* A round trip below 1/50 of the time that a refill lasts is not worth holding chunks back for. */
#define REFILL_OVER_ROUND_TRIP 50

static uint64_t refill_size(const struct master *master)
{
    return (uint64_t)master->service.worker_count * master->config.spec->refill_chunks;
}

/* Chunks that are to be here or on their way; no more than the open refills can bring. */
static uint64_t low_water_mark(const struct master *master)
{
    uint64_t most = REFILLS_OPEN_MAX * refill_size(master);
    uint64_t gap = master->request_gap_ns > 0 ? master->request_gap_ns : 1;
    bool is_lasting = master->refill_lasted_ns / REFILL_OVER_ROUND_TRIP >= master->refill_round_trip_ns;
    if (is_lasting || master->request_gap_ns == NEVER)
        return 0;
    uint64_t mark = master->refill_round_trip_ns * 3 / 2 / gap;
    return mark < most ? mark : most;
}

static bool wants_refill(const struct master *master)
{
    const struct service *service = &master->service;
    uint64_t have = service->pool.count + master->refills_open * refill_size(master);
    if (master->refill_parked || master->refills_open == REFILLS_OPEN_MAX)
        return false;
    uint64_t mark = low_water_mark(master);
    return have == 0 ? service->asks_waiting > 0 || mark > 0 : mark > 0 && have <= mark + service->asks_waiting;
}

/* Smooths the time between two chunks handed out, over every 8 of them or more. What comes between two messages of one
 * refill is no such time, nor is that between the first chunks of the workers, which come when their ranks have
 * started, perhaps all at once; and requests that have waited together are one with what was before them. */
static void measure_gap(struct master *master, uint64_t now_ns)
{
    uint64_t assigned = master->service.assigned - master->gap_assigned;
    if (master->refill_arriving || assigned == 0 || (assigned < master->service.worker_count && assigned < 8) ||
        now_ns == master->gap_started_ns)
        return;
    if (master->gap_assigned >= master->service.worker_count) {
        uint64_t gap = (now_ns - master->gap_started_ns) / assigned;
        master->request_gap_ns = master->request_gap_ns == NEVER ? gap : (3 * master->request_gap_ns + gap) / 4;
    }
    master->gap_started_ns = now_ns;
    master->gap_assigned = master->service.assigned;
}

void master_ask_for_refill(struct master *master, uint64_t now_ns)
{
    measure_gap(master, now_ns);
    if (!wants_refill(master))
        return;
    REASON(master->reasons, "asks for a refill: %u chunks are here, %u refills on their way, %u chunks are waited for",
           master->service.pool.count, master->refills_open, master->service.asks_waiting);
    unsigned last = (master->refill_first + master->refills_open++) % REFILLS_OPEN_MAX;
    master->refill_asked_at_ns[last] = master->gap_started_ns > 0 ? now_ns : NEVER;
    master_report(master, true, now_ns);
}

static void measure_round_trip(struct master *master, uint64_t now_ns)
{
    /* The first refill waits for the speeds of all workers, and a parked one for work: neither is a round trip. */
    uint64_t asked_at_ns = master->refill_asked_at_ns[master->refill_first];
    if (!master->refill_parked && asked_at_ns != NEVER)
        master->refill_round_trip_ns = (7 * master->refill_round_trip_ns + (now_ns - asked_at_ns)) / 8;
}

/* The refill before this one has lasted until now; of the first it is not known. */
static void measure_lasting(struct master *master, uint64_t now_ns)
{
    master->refill_lasted_ns = master->refill_came_at_ns != NEVER ? now_ns - master->refill_came_at_ns : 0;
    master->refill_came_at_ns = now_ns;
}

static bool put(struct master *master, unsigned w, const struct chunk_record *chunk)
{
    const struct range range = {chunk->first, chunk->count};
    struct pool *pool = &master->service.pool;
    return master->config.distance > 0 ? pool_put_in_order(pool, w, range, master->config.distance)
                                       : pool_put(pool, w, range);
}

void master_receive_refill(struct master *master, uint64_t now_ns, const struct message *message)
{
    struct service *service = &master->service;
    struct chunk_record chunk;
    if (master->refills_open == 0) {
        master_refuse(master, master->config.supermaster, "sent a refill that was not asked for");
        return;
    }
    for (unsigned i = 0; i < message->record_count; i++) {
        chunk_record_get(message->records, i, &chunk);
        unsigned w = service_find(service, chunk.worker);
        if (w == service->worker_count || !put(master, w, &chunk)) {
            master_refuse(master, master->config.supermaster,
                          "sent a refill for a worker that is not served there, or too many chunks");
            return;
        }
    }
    master->refill_arriving = message->refill.more;
    if (message->refill.empty) {
        master->refill_parked = true;
    } else if (!message->refill.more) {
        measure_round_trip(master, now_ns);
        measure_lasting(master, now_ns);
        master->refill_first = (master->refill_first + 1) % REFILLS_OPEN_MAX;
        master->refills_open--;
        master->refill_parked = false;
    }
    service_set_source(service, !master->refill_parked);
    service_serve(service, now_ns, master->actions);
}
