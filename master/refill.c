/* When to ask for the next refill: early enough that no worker waits for the supermaster, and no earlier, because a
 * chunk in one master's pool is out of reach for the workers of the others.
 *
 * The low-water mark follows what is measured: the pool must last for one round trip to the supermaster. With one chunk
 * handed out every `gap`, that is round_trip / gap chunks; half as many again are kept to spare. Where the gap is so
 * long that a round trip is below 2 % of it, the refill is asked for by the first request that finds the pool empty. */
#include "master/core.h"

/* A round trip below 1/50 of the gap between two requests is not worth holding chunks back for. */
#define GAP_OVER_ROUND_TRIP 50

static bool pool_is_low(const struct master *master)
{
    const struct service *service = &master->service;
    if (service->waiting_count > 0)
        return service->pool.count == 0;
    if (master->request_gap_ns == NEVER)
        return false;
    uint64_t gap = master->request_gap_ns > 0 ? master->request_gap_ns : 1;
    if (gap / GAP_OVER_ROUND_TRIP >= master->refill_round_trip_ns)
        return false;
    uint64_t mark = master->refill_round_trip_ns * 3 / 2 / gap;
    return service->pool.count <= (mark < service->worker_count ? mark : service->worker_count);
}

/* Smooths the time between two chunks handed out, over every 8 of them or more. */
static void measure_gap(struct master *master, uint64_t now_ns)
{
    uint64_t assigned = master->service.assigned - master->gap_assigned;
    if (assigned == 0 || (assigned < master->service.worker_count && assigned < 8))
        return;
    if (master->gap_started_ns > 0) {
        uint64_t gap = (now_ns - master->gap_started_ns) / assigned;
        master->request_gap_ns = master->request_gap_ns == NEVER ? gap : (3 * master->request_gap_ns + gap) / 4;
    }
    master->gap_started_ns = now_ns;
    master->gap_assigned = master->service.assigned;
}

void master_ask_for_refill(struct master *master, uint64_t now_ns)
{
    measure_gap(master, now_ns);
    if (master->refill_open || !pool_is_low(master))
        return;
    master->refill_open = true;
    master->refill_asked_at_ns = now_ns;
    master_report(master, true, now_ns);
}

static void measure_round_trip(struct master *master, uint64_t now_ns)
{
    /* The first refill waits for the speeds of all workers, and a parked one for work: neither is a round trip. */
    if (!master->refill_parked && master->gap_started_ns > 0)
        master->refill_round_trip_ns = (7 * master->refill_round_trip_ns + (now_ns - master->refill_asked_at_ns)) / 8;
}

void master_receive_refill(struct master *master, uint64_t now_ns, const struct message *message)
{
    struct service *service = &master->service;
    struct chunk_record chunk;
    if (!master->refill_open) {
        master_problem(master, master->config.rank, "received a refill that it had not asked for");
        return;
    }
    for (unsigned i = 0; i < message->record_count; i++) {
        chunk_record_get(message->records, i, &chunk);
        unsigned w = service_find(service, chunk.worker);
        if (w == service->worker_count || !pool_put(&service->pool, w, (struct range){chunk.first, chunk.count})) {
            master_problem(master, master->config.rank,
                           "received a refill for a worker that it does not serve, or too many chunks");
            return;
        }
    }
    if (message->refill.empty) {
        master->refill_parked = true;
    } else if (!message->refill.more) {
        measure_round_trip(master, now_ns);
        master->refill_open = false;
        master->refill_parked = false;
    }
    service_serve(service, now_ns, master->actions);
}
