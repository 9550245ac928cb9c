/* SPDX-License-Identifier: MIT */
/* Requests refills when common/service/refill.h says so, and puts them into the pool. */
#include "master/core.h"

#include "common/service/pool.h"
#include "common/service/refill.h"
#include "common/service/service.h"
#include "common/util/ranges.h"

static bool gap_is_over(const struct master *master)
{
    return refills_gap_is_over(&master->refills, master->service.assigned);
}

static bool wants_refill(const struct master *master)
{
    const struct service *service = &master->service;
    uint64_t have = service->pool.count + master->refills.open * master->refills.size;
    bool has_room = have + master->refills.size <= service->pool.capacity;
    return has_room && refills_are_wanted(&master->refills, service->pool.count, service->line.asks);
}

__attribute__((noinline)) static void measure_and_ask(struct master *master, uint64_t now_ns)
{
    if (gap_is_over(master))
        refills_measure_gap(&master->refills, master->service.assigned, now_ns);
    if (!wants_refill(master))
        return;
    REASON(master->reasons, "asks for a refill: %u chunks are here, %u refills on their way, %u chunks are waited for",
           master->service.pool.count, master->refills.open, master->service.line.asks);
    refills_ask(&master->refills, now_ns);
    master_report(master, true, now_ns);
}

/* Runs in every step. Code that is rarely needed is in measure_and_ask(), so that this function stays fast. */
void master_ask_for_refill(struct master *master, uint64_t now_ns)
{
    if (gap_is_over(master) || wants_refill(master))
        measure_and_ask(master, now_ns);
}

static bool refill_put(struct master *master, unsigned w, const struct chunk_record *chunk)
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
    if (master->refills.open == 0) {
        master_refuse(master, master->config.supermaster, "sent a refill that was not asked for");
        return;
    }
    for (unsigned i = 0; i < message->record_count; i++) {
        chunk_record_get(message->records, i, &chunk);
        unsigned w = service_find(service, chunk.worker);
        if (w == service->worker_count || !refill_put(master, w, &chunk)) {
            master_refuse(master, master->config.supermaster,
                          "sent a refill for a worker that is not served there, or too many chunks");
            return;
        }
    }
    master->refills.arriving = message->refill.more;
    if (message->refill.empty) {
        master->refills.parked = true;
    } else if (!message->refill.more) {
        refills_take(&master->refills, now_ns);
        master->told_idle = 0;
    }
    service_set_source(service, !master->refills.parked ? SOURCE_FLOWS
                                : message->refill.begun ? SOURCE_IS_DRY
                                                        : SOURCE_RESTS);
    service_serve(service, now_ns, master->actions);
}
