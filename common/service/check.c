/* SPDX-License-Identifier: MIT */
/* The invariants of a service; see service.h. */
#include "common/service/boundary_list.h"
#include "common/service/poison.h"
#include "common/service/pool.h"
#include "common/service/service.h"
#include "common/service/serving.h"
#include "common/util/ranges.h"
#include "proto/message.h"

#include <assert.h>

static const struct grant *grant_numbered(const struct service *service, unsigned w, uint32_t chunk)
{
    const struct served *worker = &service->workers[w];
    return &worker->grants[chunk & (worker->slots - 1)];
}

static void check_shared_grant(const struct service *service, unsigned w, const struct grant *grant)
{
    assert(grant->other_worker < service->worker_count && grant->other_worker != w && "two workers share a chunk");
    const struct grant *twin = grant_numbered(service, grant->other_worker, grant->other_chunk);
    assert(twin->chunk == grant->other_chunk && twin->copy_owner == OWNER_UNDECIDED &&
           "both copies of a chunk are shared");
    assert(twin->other_worker == w && twin->other_chunk == grant->chunk && "copies of a chunk know one another");
    assert(twin->first + twin->received == grant->first + grant->received &&
           twin->count - twin->received == grant->count - grant->received && "both have the same rest of a chunk");
}

static void check_grant(const struct service *service, unsigned w, const struct grant *grant)
{
    assert((grant->count > 0 || (service->dependent && grant->flawed)) && "no chunk is empty");
    assert(grant->received <= grant->count && "no more results come than the chunk has iterations");
    assert(grant->stored <= grant->received && "what is stored has come before");
    assert((!grant->computed || grant->stored < grant->count || service->state != SERVICE_SERVING) &&
           "a chunk that is computed and stored has left its slot");
    if (service->dependent)
        assert(grant->copy_owner != OWNER_UNDECIDED && "no chunk of a loop with dependencies is shared");
    else if (grant->copy_owner == OWNER_UNDECIDED)
        check_shared_grant(service, w, grant);
}

static void check_served(const struct service *service, unsigned w)
{
    const struct served *worker = &service->workers[w];
    unsigned holds = 0;
    if (!worker->present) {
        assert(worker->slots == 0 && !worker->gone && worker->asks == 0 && "who is not served has nothing");
        return;
    }
    assert(worker->slots <= GRANTS_MAX && (worker->slots & (worker->slots - 1)) == 0 &&
           "the slots of a worker are a power of two");
    for (uint32_t i = 0; i < worker->slots; i++) {
        const struct grant *grant = &worker->grants[i];
        if (grant->chunk == 0)
            continue;
        assert((grant->chunk & (worker->slots - 1)) == i && "a chunk lies in the slot of its number");
        check_grant(service, w, grant);
        holds += !grant->computed;
    }
    assert(holds == worker->holds && "a worker holds the chunks that it has not finished");
    assert((!worker->gone || holds == 0) && "who is gone holds nothing");
    assert(worker->asks <= ASKS_MAX && "nobody asks for more than a request can");
    assert(worker->answers == 0 && "who was assigned chunks in a step has been told by its end");
}

/* If a worker requests a chunk and is not put aside, it is in the queue exactly once. While there is an index, the
 * queue is the rope of the index. Otherwise the queue is the ring. */
static void check_waiting(const struct service *service)
{
    unsigned asks = 0, askers = 0;
    assert(service->line.count <= service->worker_count && "nobody waits twice");
    if (service->state == SERVICE_ENDING) {
        assert(service->line.count == 0 && service->line.asks == 0 && "at the end nobody waits");
        return;
    }
    for (unsigned i = 0; !service->line.index.is_on && i < service->line.count; i++) {
        unsigned w = service->line.ring[(service->line.first + i) % service->worker_count];
        assert(service->workers[w].asks > 0 && !service->workers[w].is_aside && "who waits asks for a chunk");
    }
    for (unsigned w = 0; w < service->worker_count; w++) {
        askers += service->workers[w].asks > 0 && !service->workers[w].is_aside;
        asks += service->workers[w].asks;
    }
    assert(askers == service->line.count && "who asks waits, and once");
    assert(asks == service->line.asks && "the chunks that are waited for are those that are asked for");
}

static void check_served_counts(const struct service *service)
{
    unsigned busy = 0, present = 0, gone = 0, aside = 0;
    for (unsigned w = 0; w < service->worker_count; w++) {
        busy += service->workers[w].holds > 0;
        present += service->workers[w].present;
        gone += service->workers[w].gone;
        aside += service->workers[w].is_aside && !service->workers[w].gone;
    }
    assert(aside == service->count.aside && "put aside are those who are, and are not gone");
    assert(busy == service->count.busy && "busy are those who hold a chunk");
    assert(present == service->count.present && "present are those who are served, or were");
    assert(gone == service->count.gone && "gone are those who said goodbye or are lost");
}

static void check_recalls(const struct service *service)
{
    unsigned open = 0, beginners = 0;
    for (unsigned w = 0; w < service->worker_count; w++) {
        const struct served *worker = &service->workers[w];
        open += worker->recall >= RECALL_SENT;
        beginners += worker->present && !worker->gone && !worker->is_aside && worker->chunks_assigned == 0;
        assert((worker->recall < RECALL_SENT || (worker->present && !worker->gone)) &&
               "who is asked for work is served");
        assert((worker->owed > 0 || worker->recall < RECALL_LATE) && worker->owed <= 2 + worker->recalled_all &&
               "who was asked owes an answer, one more where it was asked again, and one where that is for everything");
    }
    assert(open == service->recall.open && "as many RECALLs are open as are counted");
    assert(beginners == service->count.beginners && "beginners are those who were assigned no chunk yet");
    for (unsigned w = 0; service->recall.assigned_at_futile == service->assigned && w < service->worker_count; w++)
        assert(!service_may_be_asked(service, w) && "where nobody is left to be asked nobody is");
    for (unsigned i = 0; i < service->recall.count; i++)
        assert(service->recall.ranges[i].count > 0 && "something was recalled");
    assert((!service->dependent || service->recall.count + open == 0) &&
           "nothing of a loop with dependencies is recalled");
}

static bool is_idle_with_room(const struct service *service, unsigned w)
{
    const struct served *worker = &service->workers[w];
    return worker->asks > 0 && worker->holds == 0 && !worker->is_aside && worker->owed == 0 &&
           grant_numbered(service, w, chunk_number_after(worker->chunks_assigned))->chunk == 0;
}

static bool is_waited_for(const struct service *service, unsigned w)
{
    const struct served *worker = &service->workers[w];
    for (uint32_t i = 0; i < worker->slots; i++) {
        const struct grant *grant = &worker->grants[i];
        if (grant->chunk != 0 && !grant->computed && grant->received < grant->count && grant->copy_owner != OWNER_OTHER)
            return true;
    }
    return false;
}

/* If a worker is idle while work is open, a timer must be set. Without a timer there might never be a further step,
 * because no message might come: the worker that has the work may hang, or the work may be reserved for another worker.
 */
static void check_next_look(const struct service *service)
{
    bool is_idle = false, something_is_open = service->requeued.count + service->recall.count > 0;
    if (service->state != SERVICE_SERVING || service->source == SOURCE_FLOWS || service->dependent ||
        service->no_speculation)
        return;
    for (unsigned w = 0; w < service->worker_count; w++) {
        is_idle |= is_idle_with_room(service, w);
        something_is_open |= is_waited_for(service, w);
    }
    assert((!is_idle || !something_is_open || service_deadline(service) != NEVER) &&
           "where a worker is idle and work is open a look is due");
}

void service_check(const struct service *service)
{
    check_next_look(service);
    for (unsigned w = 0; w < service->worker_count; w++)
        check_served(service, w);
    check_served_counts(service);
    check_waiting(service);
    service_index_check(service);
    pool_check(&service->pool);
    poison_check(&service->poisons);
    check_recalls(service);
    service_verify_check(service);
    for (unsigned i = 0; i < service->requeued.count; i++)
        assert(service->requeued.items[i].range.count > 0 && "something was returned");
    assert(service->step.answered_count == 0 && "all who were assigned chunks in a step have been told by its end");
    if (!service->dependent) {
        assert(service->order.ends.count + service->order.beginnings.count == 0 && "independent chunks have no seams");
        return;
    }
    assert(service->requeued.count == 0 && "nothing of a loop with dependencies is handed out by itself again");
    boundary_list_check(&service->order.ends);
    boundary_list_check(&service->order.beginnings);
}

/* Returns twice the number of open iterations of a grant. If a chunk has two copies, each copy then counts for one
 * half. */
static uint64_t twice_open(const struct grant *grant)
{
    uint64_t rest = grant->count - grant->received;
    return grant->copy_owner == OWNER_SELF ? 2 * rest : grant->copy_owner == OWNER_UNDECIDED ? rest : 0;
}

uint64_t service_open_iterations(const struct service *service)
{
    uint64_t twice = 0, requeued = 0;
    for (unsigned w = 0; w < service->worker_count; w++)
        for (uint32_t i = 0; i < service->workers[w].slots; i++)
            if (service->workers[w].grants[i].chunk != 0)
                twice += twice_open(&service->workers[w].grants[i]);
    for (unsigned i = 0; i < service->requeued.count; i++)
        requeued += service->requeued.items[i].range.count;
    return twice / 2 + requeued + service->verify.held + service_recalled_iterations(service) +
           pool_total(&service->pool);
}
