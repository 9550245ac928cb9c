/* Work that is handed out again: that of lost workers, and a second copy of what is overdue. None of it costs anything
 * as long as nothing goes wrong: memory is allocated at the first loss, and overdue chunks are looked for when workers
 * wait and nothing else is left. */
#include "common/machine/serving.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more of `size` bytes; false when memory is out. */
static bool grow(struct service *service, void **items, unsigned count, unsigned *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    unsigned larger = *capacity > 0 ? 2 * *capacity : 8;
    void *grown = realloc(*items, larger * size);
    service->news = true;
    service->out_of_memory |= grown == NULL;
    if (grown == NULL)
        return false;
    *items = grown;
    *capacity = larger;
    return true;
}

static void give_up(struct service *service, const struct range *range)
{
    void *records = service->failed;
    service->news = true;
    if (!grow(service, &records, service->failed_count, &service->failed_capacity, ASSIGN_RECORD_BYTES))
        return;
    service->failed = records;
    assign_record_put(service->failed, service->failed_count++, range->first, range->count);
}

/* Parts of one chunk come back one after the other. */
static bool merge_returned(struct service *service, const struct range *range, unsigned attempts)
{
    struct returned *last = service->returned_count > 0 ? &service->returned[service->returned_count - 1] : NULL;
    if (last == NULL || last->attempts != attempts || last->range.first + last->range.count != range->first)
        return false;
    last->range.count += range->count;
    return true;
}

void service_return(struct service *service, const struct range *range, unsigned attempts)
{
    void *items = service->returned;
    if (service->ending)
        return; /* nobody would compute it */
    if (attempts >= ATTEMPTS_MAX) {
        give_up(service, range);
        return;
    }
    service->news = true;
    service->reissued++;
    if (merge_returned(service, range, attempts))
        return;
    if (!grow(service, &items, service->returned_count, &service->returned_capacity, sizeof *service->returned))
        return;
    service->returned = items;
    service->returned[service->returned_count++] = (struct returned){*range, attempts};
}

/* The oldest, and of that no more than the latest chunk that was cut for the worker: it may be the slowest of all. */
void service_take_returned(struct service *service, unsigned w, struct returned *taken)
{
    struct returned *first = &service->returned[0];
    uint64_t most = service->pool.own[w].latest_count;
    *taken = *first;
    if (most > 0 && taken->range.count > most) {
        taken->range.count = most;
        first->range.first += most;
        first->range.count -= most;
        return;
    }
    service->returned_count--;
    memmove(first, first + 1, service->returned_count * sizeof *first);
}

static struct grant *twin_of(struct service *service, const struct grant *grant)
{
    return grant_slot(&service->workers[grant->twin_worker], grant->twin_chunk);
}

bool service_take_away(struct service *service, struct range *range)
{
    if (service->returned_count == 0)
        return false;
    *range = service->returned[--service->returned_count].range;
    return true;
}

/* Takes back what is not received of a grant; what is on its way to the disk comes by itself. Returns whether there was
 * something to be handed out again. */
static bool take_back(struct service *service, struct grant *grant, unsigned attempts)
{
    const struct range rest = {grant->first + grant->received, grant->count - grant->received};
    bool returns = rest.count > 0 && grant->claim == CLAIM_SOLE;
    if (grant->claim == CLAIM_SHARED) {
        struct grant *twin = twin_of(service, grant);
        twin->claim = CLAIM_SOLE;
        twin->attempts = (uint8_t)attempts;
    }
    grant->chunk = 0;
    if (returns)
        service_return(service, &rest, attempts);
    return returns && !service->ending && attempts < ATTEMPTS_MAX;
}

/* The one that the worker computed when it died: the oldest that it has not finished. */
static struct grant *running_grant(struct served *worker)
{
    struct grant *oldest = NULL;
    for (unsigned i = 0; i < GRANTS_MAX; i++) {
        struct grant *grant = &worker->grants[i];
        if (grant->chunk == 0 || grant->computed)
            continue;
        if (oldest == NULL || worker->chunks_assigned - grant->chunk > worker->chunks_assigned - oldest->chunk)
            oldest = grant;
    }
    return oldest;
}

static void leave_queue(struct service *service, unsigned w)
{
    unsigned kept = 0, first = service->waiting_first, capacity = service->worker_count;
    for (unsigned i = 0; i < service->waiting_count; i++) {
        unsigned other = service->waiting[(first + i) % capacity];
        if (other != w)
            service->waiting[(first + kept++) % capacity] = other;
    }
    service->waiting_count = kept;
    if (!service->ending)
        service->asks_waiting -= service->workers[w].asks;
    service->workers[w].asks = 0;
}

static void note_loss(struct service *service, unsigned w, uint64_t chunks)
{
    void *items = service->losses;
    service->news = true;
    if (!grow(service, &items, service->loss_count, &service->loss_capacity, sizeof *service->losses))
        return;
    service->losses = items;
    service->losses[service->loss_count++] = (struct loss){w, chunks};
}

void service_lost(struct service *service, unsigned w)
{
    struct served *worker = &service->workers[w];
    uint64_t chunks = 0;
    if (worker->gone || !worker->present)
        return;
    const struct grant *running = running_grant(worker);
    for (unsigned i = 0; i < GRANTS_MAX; i++) {
        struct grant *grant = &worker->grants[i];
        if (grant->chunk != 0)
            chunks += take_back(service, grant, grant->attempts + (grant == running));
    }
    service->busy -= worker->holds > 0;
    worker->holds = 0;
    leave_queue(service, w);
    worker->gone = true;
    service->gone++;
    note_loss(service, w, chunks);
}

void service_adopt(struct service *service, unsigned w, const struct range *running, bool counts, uint64_t now_ns)
{
    struct served *worker = &service->workers[w];
    worker->present = service->lossy = true;
    service->present++;
    if (running->count == 0)
        return;
    worker->chunks_assigned = 1;
    worker->holds = 1;
    service->busy++;
    *grant_slot(worker, 1) = (struct grant){
        .first = running->first,
        .count = running->count,
        .since_ns = now_ns,
        .chunk = 1,
        .claim = counts ? CLAIM_SOLE : CLAIM_VOID,
    };
}

/* Who has not even asked for a chunk may still probe, which may take long; but where chunks have been assigned others
 * have long been through with that. */
static void take_for_lost(struct service *service)
{
    service->leave_due_ns = NEVER;
    for (unsigned w = 0; w < service->worker_count; w++)
        if (service->lossy || service->assigned > 0 || service->workers[w].asks > 0)
            service_lost(service, w);
}

void service_expire(struct service *service, uint64_t now_ns, struct actions *actions)
{
    if (service_deadline(service) > now_ns)
        return;
    service->lease_due_ns = 0; /* whoever waits may have no room for a chunk at present */
    if (service->ending)
        take_for_lost(service);
    else
        service_serve(service, now_ns, actions);
}

/* --- second copies --- */

/* Time of an iteration, over all workers; 0: not known. */
static double mean_iteration_ns(const struct service *service)
{
    double compute = 0, iterations = 0;
    for (unsigned w = 0; w < service->worker_count; w++) {
        compute += (double)service->workers[w].compute_ns;
        iterations += (double)service->workers[w].iterations;
    }
    return iterations > 0 ? compute / iterations : 0;
}

/* When the grant is overdue. Those behind the running one begin when that is finished. */
static uint64_t lease_end_ns(const struct served *worker, const struct grant *grant, double mean_ns)
{
    uint64_t began = grant->since_ns > worker->last_done_ns ? grant->since_ns : worker->last_done_ns;
    bool has_own = worker->chunks > 0 && worker->iterations > 0;
    double iteration_ns = has_own ? (double)worker->compute_ns / (double)worker->iterations : mean_ns;
    if (iteration_ns <= 0)
        return began + LEASE_UNKNOWN_NS;
    double lease = LEASE_FACTOR * iteration_ns * (double)grant->count;
    return lease < LEASE_MIN_NS ? began + LEASE_MIN_NS : lease < 1e18 ? began + (uint64_t)lease : NEVER;
}

struct overdue {
    struct grant *grant;
    unsigned worker;
    uint64_t end_ns;
};

/* What two have is overdue when it is with both. */
static uint64_t end_of_both_ns(const struct service *service, const struct served *worker, struct grant *grant,
                               double mean_ns)
{
    uint64_t end = lease_end_ns(worker, grant, mean_ns);
    if (grant->claim != CLAIM_SHARED)
        return end;
    struct served *other = &service->workers[grant->twin_worker];
    uint64_t other_end = lease_end_ns(other, grant_slot(other, grant->twin_chunk), mean_ns);
    return other_end > end ? other_end : end;
}

/* Looks through the grants of worker `v` for what worker `w` could have, too. */
static void look_at_worker(const struct service *service, unsigned v, unsigned w, double mean_ns, struct overdue *least)
{
    struct served *worker = &service->workers[v];
    for (unsigned i = 0; i < GRANTS_MAX; i++) {
        struct grant *grant = &worker->grants[i];
        if (grant->chunk == 0 || grant->claim == CLAIM_VOID || grant->received == grant->count ||
            (grant->claim == CLAIM_SHARED && grant->twin_worker == w))
            continue;
        uint64_t end = end_of_both_ns(service, worker, grant, mean_ns);
        if (end < least->end_ns)
            *least = (struct overdue){grant, v, end};
    }
}

struct grant *service_find_overdue(struct service *service, unsigned w, uint64_t now_ns, unsigned *other)
{
    struct overdue least = {.end_ns = NEVER};
    if (service->lease_due_ns > now_ns)
        return NULL;
    double mean_ns = mean_iteration_ns(service);
    for (unsigned v = 0; v < service->worker_count; v++)
        if (v != w && service->workers[v].holds > 0)
            look_at_worker(service, v, w, mean_ns, &least);
    service->lease_due_ns = least.end_ns;
    *other = least.worker;
    return least.end_ns <= now_ns ? least.grant : NULL;
}

void service_share(struct service *service, struct grant *old, unsigned old_worker, struct grant *copy,
                   unsigned copy_worker)
{
    if (old->claim == CLAIM_SHARED) /* both who had it are overdue: one of them is passed over */
        twin_of(service, old)->claim = CLAIM_VOID;
    old->claim = copy->claim = CLAIM_SHARED;
    old->twin_worker = copy_worker;
    old->twin_chunk = copy->chunk;
    copy->twin_worker = old_worker;
    copy->twin_chunk = old->chunk;
    copy->attempts = old->attempts;
    service->reissued++;
    service->news = true;
}

static bool wins(struct service *service, struct grant *grant)
{
    if (grant->claim == CLAIM_VOID)
        return false;
    grant->claim = CLAIM_SOLE;
    twin_of(service, grant)->claim = CLAIM_VOID;
    return true;
}

static void drop_part(struct service *service, unsigned w, struct grant *grant, uint64_t count,
                      const struct message *message, struct actions *actions)
{
    const struct part part = {w, 0, grant->first + grant->received, count, 0};
    service->duplicates++;
    service->news = true;
    grant->received += count;
    grant->stored += count;
    if (grant->computed && grant->stored == grant->count)
        grant->chunk = 0;
    if (message->payload != PAYLOAD_DATA)
        return;
    actions_add(
        actions,
        &(struct action){
            .type = ACTION_COLLECT,
            .store = {.part = part, .from = service->ranks[w], .bytes = count * service->record_bytes, .discard = true},
        });
}

bool service_drops(struct service *service, unsigned w, struct grant *grant, uint64_t count,
                   const struct message *message, struct actions *actions)
{
    if (wins(service, grant))
        return false;
    drop_part(service, w, grant, count, message, actions);
    return true;
}
