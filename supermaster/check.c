/* SPDX-License-Identifier: MIT */
/* The invariants of the supermaster, beside those of the ledger and of its service. */
#include "common/machine/probe.h"
#include "common/machine/topology.h"
#include "common/sched/sched.h"
#include "common/service/boundary_list.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "supermaster/core.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"

#include <assert.h>

static void check_worker_status(const struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    const struct losses *losses = &supermaster->losses;
    unsigned by_status[WORKER_IS_ORPHAN + 1] = {0}, masters_left = 0;
    for (unsigned w = 0; w < topology->workers; w++) {
        assert(losses->worker[w] <= WORKER_IS_ORPHAN && "a worker has one of the statuses that there are");
        by_status[losses->worker[w]]++;
    }
    for (unsigned m = 0; m < topology->masters; m++) {
        masters_left += losses->master_left[m];
        if (!losses->master_left[m])
            continue;
        assert(supermaster->refills_parked[m] == 0 && supermaster->busy[m] == 0 && "who has left waits for nothing");
        assert((ranges_total(&supermaster->ledger.granted[m]) == 0 || supermaster->failure.text[0] != '\0') &&
               "who has left is granted nothing, unless memory ran out");
    }
    assert(by_status[WORKER_IS_LOST] == losses->workers_lost && "as many workers are lost as are counted");
    assert(by_status[WORKER_HAS_LEFT] == losses->workers_left && "as many workers have left as are counted");
    assert(by_status[WORKER_IS_ORPHAN] == losses->orphans && "as many orphans are waited for as are counted");
    assert(masters_left == losses->masters_left && "as many masters have left as are counted");
    assert(losses->masters_lost <= masters_left && "a master that is lost has left");
}

/* The technique says how many iterations, the ledger which. */
static void check_remaining_work(const struct supermaster *supermaster)
{
    const uint64_t count = supermaster->ledger.loop.count;
    const struct timesteps *steps = &supermaster->steps;
    assert(steps->end <= count && "a time step ends within the loop");
    assert(supermaster->ledger.done >= supermaster->resumed && "what an earlier run has done stays done");
    assert(ranges_total(&supermaster->ledger.free) >= count - steps->end && "nothing of a later time step is granted");
    assert((count == supermaster->config.count || supermaster->config.grows) && "only some loops grow");
    assert((!supermaster->ledger.grows || supermaster->config.grows) && "only some loops may grow");
    assert(supermaster->service.may_grow == (supermaster->ledger.grows || supermaster->ledger.held > 0) &&
           "the service knows whether more may come");
    if (supermaster->sched_ready)
        assert(supermaster->sched.remaining == supermaster_step_free(supermaster) &&
               "the remaining work of the technique is what is free of the time step at hand");
}

/* Whoever may be given chunks has a seat in the technique. */
static void check_seats(const struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    for (unsigned w = 0; supermaster->state == SUPERMASTER_SERVING && w < topology->workers; w++) {
        const enum worker_status status = supermaster->losses.worker[w];
        const unsigned m = is_central(supermaster) ? 0 : topology->master_of[w];
        const bool is_away =
            status == WORKER_IS_LOST || status == WORKER_HAS_LEFT ||
            (!is_central(supermaster) && (supermaster->losses.dismissed[m] || supermaster_is_joining(supermaster, m)));
        assert((supermaster->seat[w] < supermaster->sched.workers || is_away) &&
               "the technique counts all who may be given chunks");
    }
}

/* Open iterations of the supermaster's own service are the iterations that the ledger grants to its holders. */
static void check_own_service(const struct supermaster *supermaster)
{
    const struct ledger *ledger = &supermaster->ledger;
    uint64_t granted = 0;
    service_check(&supermaster->service);
    if (supermaster->state != SUPERMASTER_SERVING || supermaster->config.distance > 0 ||
        supermaster->service.parts_on_way > 0 || supermaster->service.out_of_memory)
        return; /* results on their way are counted nowhere; without memory the run is about to fail */
    for (unsigned i = is_central(supermaster) ? 0 : ledger->holders - 1; i < ledger->holders; i++)
        granted += ranges_total(&ledger->granted[i]);
    assert(service_open_iterations(&supermaster->service) == granted &&
           "what is granted is in the pool, with one worker, or returned");
}

static void check_missing_speeds(const struct supermaster *supermaster)
{
    unsigned missing = 0;
    for (unsigned w = 0; w < supermaster->config.topology->workers; w++)
        missing += supermaster->levels[w].count == 0;
    if (supermaster->config.probe && supermaster->state == SUPERMASTER_GATHERING)
        assert(missing == supermaster->speeds_missing && "missing are the speeds that did not come");
}

static void check_recalls_between_masters(const struct supermaster *supermaster)
{
    const struct recalls *recalls = &supermaster->recalls;
    unsigned open = 0, waiting = 0;
    for (unsigned m = 0; m < supermaster->config.topology->masters; m++) {
        waiting += recalls->waiting[m] > 0;
        open += recalls->state[m] >= RECALL_SENT;
        if (supermaster->losses.master_left[m])
            assert(recalls->state[m] == RECALL_FUTILE && recalls->waiting[m] == 0 && "who has left is not asked");
        if (supermaster->state == SUPERMASTER_SERVING)
            assert((recalls->waiting[m] == 0 || supermaster->refills_parked[m] > 0) &&
                   "a master for which work is recalled has asked for a refill");
    }
    assert(waiting == recalls->masters_waiting && "as many masters want work as are counted");
    assert(open == recalls->open && "as many RECALLs are open as are counted");
}

/* Iterations that the ledger calls failed are in the list of those given up, as far as that goes. */
static void check_given_up(const struct supermaster *supermaster)
{
    const struct given_up *given_up = &supermaster->given_up;
    given_up_check(given_up);
    assert((given_up->total == ranges_total(&supermaster->ledger.failed) || given_up->count == GIVEN_UP_RANGES_MAX ||
            supermaster->failure.text[0] != '\0') &&
           "what is given up is listed");
}

void supermaster_check(const struct supermaster *supermaster)
{
    ledger_check(&supermaster->ledger);
    check_own_service(supermaster);
    check_remaining_work(supermaster);
    check_seats(supermaster);
    check_given_up(supermaster);
    supermaster_check_waits(supermaster);
    supermaster_check_nodes(supermaster);
    check_worker_status(supermaster);
    check_missing_speeds(supermaster);
    check_recalls_between_masters(supermaster);
    ranges_check(&supermaster->record.ranges);
    poison_check(&supermaster->deaths);
    boundary_list_check(&supermaster->boundaries);
    switch ((enum supermaster_state)supermaster->state) {
    case SUPERMASTER_GATHERING: assert(supermaster->chunks == 0 && "nothing is cut before the speeds are known"); break;
    case SUPERMASTER_SERVING:
        assert(supermaster->sched_ready && "who serves has a technique");
        assert(!ledger_is_complete(&supermaster->ledger) && "who serves has something left");
        break;
    case SUPERMASTER_ENDING:
        assert(supermaster->service.state == SERVICE_ENDING && "at the end nobody is served");
        break;
    case SUPERMASTER_GONE:
        assert(service_is_over(&supermaster->service) && "the supermaster leaves last");
        assert(ranges_length(&supermaster->record.ranges) == 0 && "all that is done is recorded at the end");
        break;
    }
}
