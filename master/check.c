/* SPDX-License-Identifier: MIT */
/* The invariants of a master. */
#include "common/config/run_spec.h"
#include "common/service/pool.h"
#include "common/service/refill.h"
#include "common/service/service.h"
#include "master/master.h"
#include "proto/message.h"
#include "proto/record.h"

#include <assert.h>

static void check_refills_open(const struct master *master)
{
    const struct pool *pool = &master->service.pool;
    uint64_t refill = (uint64_t)master->config.workers * master->config.spec->refill_chunks;
    assert(master->refills.open <= master->refills.open_max && "no more refills are open than there may be");
    assert(pool->count + master->refills.open * refill <= pool->capacity &&
           "what is in the pool and what is on its way to it has room there");
    assert((!master->refills.parked || master->refills.open > 0) && "a refill that is parked is open");
    assert((!master->refills.arriving || master->refills.open > 0) && "a refill that arrives is open");
    assert((master->service.source != SOURCE_FLOWS) == master->refills.parked &&
           "nothing is elsewhere while the supermaster has parked a refill");
}

static void check_news_of_workers(const struct master *master)
{
    assert(master->done_count + ASKS_MAX <= REPORT_MAX && "what the next step stores has room in the report");
    for (unsigned i = 0; i < master->done_count; i++)
        assert(master->done[i].count > 0 && "no range that is done is empty");
    assert(master->measured_count <= master->config.workers && "a worker has news once");
    for (unsigned i = 0; i < master->measured_count; i++)
        assert(master->measurements[master->measured[i]].chunks > 0 && "who has news has finished a chunk");
}

void master_check(const struct master *master)
{
    const struct service *service = &master->service;
    service_check(service);
    check_news_of_workers(master);
    check_refills_open(master);
    switch ((enum master_state)master->state) {
    case MASTER_SERVING:
        assert(service->state == SERVICE_SERVING && "a master that serves listens to its workers");
        break;
    case MASTER_ENDING: assert(service->state == SERVICE_ENDING && "at the end nobody is served"); break;
    case MASTER_GONE:
        assert(service_is_over(service) && "a master leaves behind its workers");
        assert(master->done_count == 0 && "a master leaves when all that is stored is reported");
        break;
    }
}
