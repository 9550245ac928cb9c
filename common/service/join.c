/* SPDX-License-Identifier: MIT */
/* Makes room for workers that join while other workers are served; see service.h. */
#include "common/service/pool.h"
#include "common/service/serving.h"
#include "common/util/grow.h"

#include <assert.h>

static void point_at_grants(struct service *service)
{
    for (unsigned w = 0; w < service->worker_count; w++)
        if (service->workers[w].slots == GRANTS_LEAST)
            service->workers[w].grants = service->grants + (size_t)w * GRANTS_LEAST;
}

/* Rotates the array of the ring until the first waiting worker has index 0, by reversing three parts. */
static void straighten(unsigned *ring, unsigned length, unsigned first)
{
    const struct {
        unsigned from, to;
    } parts[] = {{0, first}, {first, length}, {0, length}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (unsigned a = parts[i].from, b = parts[i].to; a + 1 < b; a++) {
            const unsigned other = ring[--b];
            ring[b] = ring[a];
            ring[a] = other;
        }
}

int service_reserve(struct service *service, unsigned workers)
{
    const size_t before = service->room, now = workers;
    if (now <= before)
        return 0;
    service_index_end(service);
    if (grow_to(&service->workers, before + 1, now + 1, sizeof *service->workers) < 0 ||
        grow_to(&service->line.ring, before + 1, now + 1, sizeof *service->line.ring) < 0 ||
        grow_to(&service->step.answered, before + 1, now + 1, sizeof *service->step.answered) < 0 ||
        grow_to(&service->step.more, before + 1, now + 1, SERVICE_MORE) < 0 ||
        grow_to(&service->grants, before * GRANTS_LEAST + 1, now * GRANTS_LEAST + 1, sizeof *service->grants) < 0)
        return -1;
    point_at_grants(service);
    if (pool_reserve(&service->pool, workers) < 0 || service_verify_reserve(service, workers) < 0)
        return -1;
    service->room = workers;
    return 0;
}

void service_add_workers(struct service *service, const unsigned *ranks, unsigned workers)
{
    assert(workers <= service->room && "there is room for those who join");
    service_index_end(service);
    if (service->line.first + service->line.count > service->worker_count) {
        straighten(service->line.ring, service->worker_count, service->line.first);
        service->line.first = 0;
    }
    pool_add_workers(&service->pool, workers);
    service_verify_add_workers(service, workers);
    service->ranks = ranks;
    service->worker_count = workers;
}
