/* SPDX-License-Identifier: MIT */
/* Work that is handed out again: work of lost workers, and second copies of overdue chunks. This costs nothing in a run
 * without failures. Memory is allocated at the first loss. The service searches for overdue chunks only if workers wait
 * and there is no other work for them. */
#include "common/service/serving.h"

#include "common/service/poison.h"
#include "common/service/pool.h"
#include "common/util/grow.h"
#include "proto/record.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void service_check_memory(struct service *service, int result)
{
    if (result == 0)
        return;
    service->out_of_memory = true;
    service->news |= SERVICE_NO_MEMORY;
}

bool service_make_room(struct service *service, void **items, size_t count, size_t *capacity, size_t size)
{
    void *grown = grow(*items, count, capacity, size);
    service_check_memory(service, grown == NULL ? -1 : 0);
    *items = grown != NULL ? grown : *items;
    return grown != NULL;
}

static void reissue_give_up(struct service *service, const struct range *range)
{
    void *records = service->given_up.records;
    service->news |= SERVICE_GAVE_UP;
    REASON(service->reasons, "[%" PRIu64 ", %" PRIu64 ") is given up: too many workers were lost with it", range->first,
           range->first + range->count);
    if (!service_make_room(service, &records, service->given_up.count, &service->given_up.capacity,
                           ASSIGN_RECORD_BYTES))
        return;
    service->given_up.records = records;
    assign_record_put(service->given_up.records, service->given_up.count++, range->first, range->count);
}

void service_poison(struct service *service, const struct poison *more)
{
    service_check_memory(service, poison_add(&service->poisons, more));
}

void service_warn(struct service *service, const struct poison *known)
{
    service_check_memory(service, poison_raise(&service->poisons, known));
}

void service_clear(struct service *service, uint64_t first, uint64_t count)
{
    service_check_memory(service, poison_forget(&service->poisons, first, count));
}

static bool is_hopeless(const struct service *service, const struct poison *poison)
{
    return deaths_are_too_many(poison, service->spec->retries, false);
}

static bool is_deadly(const struct service *service, const struct range *range)
{
    struct poison poison;
    poison_look(&service->poisons, range, &poison);
    return poison.deaths > 0;
}

void service_put_requeued(struct service *service, const struct range *range, uint64_t now_ns)
{
    void *items = service->requeued.items;
    struct requeued *last = service->requeued.count > 0 ? &service->requeued.items[service->requeued.count - 1] : NULL;
    /* the new range and the last one are adjacent parts of one chunk, so they are merged */
    if (last != NULL && last->range.first + last->range.count == range->first) {
        last->range.count += range->count;
        return;
    }
    if (!service_make_room(service, &items, service->requeued.count, &service->requeued.capacity,
                           sizeof *service->requeued.items))
        return;
    service->requeued.items = items;
    service->requeued.is_deadly =
        (service->requeued.is_deadly || service->requeued.count == 0) && is_deadly(service, range);
    service->requeued.items[service->requeued.count++] = (struct requeued){*range, now_ns};
}

bool service_requeue(struct service *service, const struct range *range, uint64_t now_ns)
{
    struct range rest = *range, piece;
    struct poison poison;
    bool any = false;
    if (service->state == SERVICE_ENDING || service->dependent)
        /* The service is ending, so no worker is served any more; or the loop has dependencies, in which a loss ends
         * the run. */
        return false;
    for (; rest.count > 0; rest.first += piece.count, rest.count -= piece.count) {
        piece = (struct range){rest.first, poison_look(&service->poisons, &rest, &poison)};
        if (is_hopeless(service, &poison)) {
            reissue_give_up(service, &piece);
            service_clear(service, piece.first, piece.count);
            continue;
        }
        REASON(service->reasons, "[%" PRIu64 ", %" PRIu64 ") is returned", piece.first, piece.first + piece.count);
        service_put_requeued(service, &piece, now_ns);
        any = true;
    }
    service->news |= SERVICE_RETURNED | SERVICE_COUNTED;
    service->tally.reissued += any;
    return any;
}

static bool has_others(const struct service *service, unsigned w)
{
    for (unsigned v = 0; v < service->worker_count; v++)
        if (v != w && service->workers[v].present && !service->workers[v].gone && !service->workers[v].is_aside)
            return true;
    return false;
}

static bool another_is_idle(const struct service *service, unsigned w)
{
    for (unsigned v = 0; v < service->worker_count; v++) {
        const struct served *other = &service->workers[v];
        if (v != w && other->asks > 0 && other->holds == 0 && !other->is_aside && other->owed == 0)
            return true;
    }
    return false;
}

/* Returns the time from which worker `w` may get the range again, although it failed there. If another worker is idle,
 * the waiting time begins when the range was requeued. Otherwise it begins at the last failure on this service, if this
 * failure was earlier. The reason: another worker might get the range and return it again and again, and each time the
 * waiting time would begin anew. */
static uint64_t kept_until_ns(struct service *service, unsigned w, const struct requeued *requeued)
{
    if (service->failed_ns == NEVER)
        service->failed_ns = requeued->since_ns;
    const bool by_itself = requeued->since_ns < service->failed_ns || another_is_idle(service, w);
    return ELSEWHERE_NS + (by_itself ? requeued->since_ns : service->failed_ns);
}

/* Returns how many iterations at the beginning of `requeued` worker `w` may get now. Returns 0 if they are reserved for
 * another worker. Also returns 0 if a worker died while it computed them and `w` still holds a chunk. If `w` died too,
 * nobody would know which of the chunks was the cause. */
static uint64_t may_take(struct service *service, unsigned w, const struct requeued *requeued, uint64_t now_ns,
                         bool *isolated)
{
    struct poison poison;
    uint64_t count = poison_look(&service->poisons, &requeued->range, &poison);
    *isolated = poison.deaths >= ISOLATED_DEATHS;
    count = *isolated && service->no_isolation ? 1 : count;
    if (poison.deaths > 0 && service->workers[w].holds > 0) {
        REASON(service->reasons,
               "rank %u does not get [%" PRIu64 ", ...) now: %u were lost with it, and it holds others",
               service->ranks[w], requeued->range.first, poison.deaths);
        return 0;
    }
    if (poison.failures == 0 || poison.failed_by != service->ranks[w] || !has_others(service, w))
        return count;
    const uint64_t due_ns = kept_until_ns(service, w, requeued);
    if (due_ns <= now_ns)
        return count;
    service->elsewhere_due_ns = due_ns < service->elsewhere_due_ns ? due_ns : service->elsewhere_due_ns;
    REASON(service->reasons, "rank %u does not get [%" PRIu64 ", ...) yet: it failed there, and another may try",
           service->ranks[w], requeued->range.first);
    return 0;
}

/* Takes iterations of the oldest requeued range of which worker `w` may get some. Takes at most as many as the latest
 * chunk that was cut for `w` had, because `w` may be the slowest worker of all. */
bool service_take_requeued(struct service *service, unsigned w, uint64_t now_ns, struct range *range, bool *isolated)
{
    uint64_t most = service->pool.own[w].latest_count, count = 0;
    unsigned i = 0;
    if (service->requeued.is_deadly && service->workers[w].holds > 0 && service->reasons == NULL)
        return false;
    while (i < service->requeued.count &&
           (count = may_take(service, w, &service->requeued.items[i], now_ns, isolated)) == 0)
        i++;
    if (count == 0)
        return false;
    struct requeued *from = &service->requeued.items[i];
    count = most > 0 && count > most ? most : count;
    *range = (struct range){from->range.first, count};
    from->range.first += count;
    from->range.count -= count;
    if (from->range.count > 0)
        service->requeued.is_deadly &= is_deadly(service, &from->range);
    else
        memmove(from, from + 1, (--service->requeued.count - i) * sizeof *from);
    return true;
}

static struct grant *other_copy(const struct service *service, const struct grant *grant)
{
    return grant_slot(&service->workers[grant->other_worker], grant->other_chunk);
}

bool service_take_away(struct service *service, struct range *range)
{
    if (service->requeued.count > 0)
        *range = service->requeued.items[--service->requeued.count].range;
    else if (service_has_vain_recall(service))
        *range = service->recall.ranges[--service->recall.count];
    else
        return false;
    return true;
}

void service_unshare(struct service *service, const struct grant *grant)
{
    if (grant->copy_owner != OWNER_UNDECIDED)
        return;
    other_copy(service, grant)->copy_owner = OWNER_SELF;
    service_note_change(service, grant->other_worker);
    service->recall.assigned_at_futile = NEVER;
}

static struct range rest_of(const struct grant *grant)
{
    return (struct range){grant->first + grant->received, grant->count - grant->received};
}

bool service_wants_care(const struct service *service, const struct grant *grant)
{
    struct range rest = rest_of(grant);
    struct poison poison;
    if (grant->was_copied)
        return true;
    for (uint64_t count; service->poisons.count > 0 && rest.count > 0; rest.first += count, rest.count -= count) {
        count = poison_look(&service->poisons, &rest, &poison);
        if (poison.deaths > 0)
            return true;
    }
    return false;
}

struct grant *service_running_grant(struct served *worker)
{
    struct grant *oldest = NULL;
    for (unsigned i = 0; i < worker->slots; i++) {
        struct grant *grant = &worker->grants[i];
        if (grant->chunk == 0 || grant->computed)
            continue;
        if (oldest == NULL || worker->chunks_assigned - grant->chunk > worker->chunks_assigned - oldest->chunk)
            oldest = grant;
    }
    return oldest;
}

void service_leave_queue(struct service *service, unsigned w)
{
    unsigned kept = 0, first = service->line.first, capacity = service->worker_count;
    if (service->line.index.is_on) {
        kept = service->line.count - rope_has(&service->line.index.line, w);
        if (kept < service->line.count)
            rope_remove(&service->line.index.line, w);
    } else
        for (unsigned i = 0; i < service->line.count; i++) {
            unsigned other = service->line.ring[(first + i) % capacity];
            if (other != w)
                service->line.ring[(first + kept++) % capacity] = other;
        }
    service->line.count = kept;
    if (service->state != SERVICE_ENDING)
        service->line.asks -= service->workers[w].asks;
    service->workers[w].asks = 0;
}

/* Records a death for the iterations that the lost worker may have been computing. Lists them in `running`, the oldest
 * chunk first. If the worker has threads, it may have been computing every chunk that it held. A chunk for which
 * another worker's results count is not listed. Returns the number of ranges, which is at least one; the first range
 * may be empty. */
static unsigned blame_running(struct service *service, struct served *worker, struct range running[GRANTS_MAX])
{
    const struct grant *oldest = service_running_grant(worker);
    unsigned count = 1;
    running[0] = (struct range){0};
    if (service->state == SERVICE_ENDING)
        return count;
    for (unsigned i = 0; i < worker->slots; i++) {
        const struct grant *grant = &worker->grants[i];
        const struct range rest = rest_of(grant);
        bool runs = grant == oldest || (run_spec_has_threads(service->spec) && grant->chunk != 0 && !grant->computed);
        if (!runs || grant->copy_owner >= OWNER_OTHER || rest.count == 0)
            continue;
        running[grant == oldest ? 0 : count++] = rest;
        REASON(service->reasons, "[%" PRIu64 ", %" PRIu64 ") is suspected: rank %u was lost with it", rest.first,
               rest.first + rest.count, service->ranks[worker - service->workers]);
        service_poison(service, &(struct poison){.first = rest.first, .count = rest.count, .deaths = 1});
    }
    return count;
}

void service_lost(struct service *service, unsigned w, uint64_t now_ns)
{
    struct served *worker = &service->workers[w];
    struct range running[GRANTS_MAX];
    uint64_t chunks = 0;
    if (worker->gone || !worker->present)
        return;
    service->traced_ns = now_ns;
    service_note_change(service, w);
    unsigned blamed = blame_running(service, worker, running);
    for (unsigned i = 0; i < worker->slots; i++) {
        struct grant *grant = &worker->grants[i];
        if (grant->chunk == 0)
            continue;
        /* without iterations whose results have arrived, because service_stored() will be called for these */
        const struct range rest = rest_of(grant);
        service_note_rest(service, CHUNK_LOST, w, grant);
        service_unshare(service, grant);
        if (grant->copy_owner == OWNER_VERIFY)
            service_abandon_verification(service, w, grant, true);
        grant->chunk = 0;
        if (rest.count > 0 && grant->copy_owner == OWNER_SELF)
            chunks += service_requeue(service, &rest, now_ns);
    }
    service->count.busy -= worker->holds > 0;
    worker->holds = 0;
    service_forget_recall(service, w);
    service_leave_queue(service, w);
    worker->gone = true;
    service->count.gone++;
    service->count.aside -= worker->is_aside;
    if (service->requeued.count > 0 || service_has_vain_recall(service))
        /* requeued work that was reserved for the lost worker may now be handed out */
        service->news |= SERVICE_RETURNED;
    if (service->verify.held > 0)
        /* the lost worker may have been the last worker that could compute some verification */
        service->verify.close_due_ns = now_ns;
    service->news |= SERVICE_HAS_LOST;
    for (unsigned i = 0; i < blamed; i++) {
        void *items = service->losses.items;
        if (!service_make_room(service, &items, service->losses.count, &service->losses.capacity,
                               sizeof *service->losses.items))
            return;
        service->losses.items = items;
        service->losses.items[service->losses.count++] = (struct loss){w, i == 0 ? chunks : 0, running[i]};
    }
}

const struct loss *service_take_loss(struct service *service)
{
    return service->losses.told < service->losses.count ? &service->losses.items[service->losses.told++] : NULL;
}

const unsigned char *service_take_given_up(struct service *service, unsigned most, unsigned *count)
{
    unsigned told = service->given_up.told, left = service->given_up.count - told;
    *count = left < most ? left : most;
    service->given_up.told += *count;
    return left > 0 ? service->given_up.records + (size_t)told * ASSIGN_RECORD_BYTES : NULL;
}

struct recovery_counts service_take_counts(struct service *service)
{
    const struct recovery_counts counts = {service->tally.reissued, service->tally.duplicates, service->recall.fruitful,
                                           service->recall.iterations};
    service->tally.reissued = service->tally.duplicates = service->recall.fruitful = service->recall.iterations = 0;
    return counts;
}

static void trace_adoption(const struct service *service, unsigned w, const struct range *running, uint64_t now_ns)
{
    *trace_next(service->trace) = (struct trace_record){
        .at_ns = now_ns,
        .first = running->first,
        .count = running->count,
        .figure = now_ns,
        .worker = service->ranks[w],
        .chunk = 1,
        .kind = CHUNK_ASSIGNED,
        .reason = CHUNK_REASON_ADOPTED,
    };
    trace_note(service->trace);
}

void service_adopt(struct service *service, unsigned w, const struct range *running, bool counts, uint64_t now_ns,
                   struct actions *actions)
{
    struct served *worker = &service->workers[w];
    assert(!worker->present && "a worker is adopted once");
    service_begin_to_serve(service, w);
    service_note_change(service, w);
    service->count.present++;
    service->count.beginners += running->count == 0;
    if (service->state == SERVICE_ENDING)
        service->leaving.due_ns = now_ns + (service->leaving.is_late ? LEAVE_LATE_NS : LEAVE_NS);
    if (running->count == 0)
        return;
    service->recall.assigned_at_futile = NEVER;
    service->lease.due_ns = 0; /* The last search for overdue chunks may have found no chunk at all, so search again. */
    worker->chunks_assigned = 1;
    worker->holds = 1;
    worker->heard_ns = now_ns;
    service->count.busy++;
    *grant_slot(worker, 1) = (struct grant){
        .first = running->first,
        .count = running->count,
        .since_ns = now_ns,
        .chunk = 1,
        .copy_owner = counts ? OWNER_SELF : OWNER_OTHER,
    };
    if (service->trace != NULL)
        trace_adoption(service, w, running, now_ns);
    service_stop_loser(service, w, actions);
}

/* Declares all workers lost that have not left in time. If ranks share few cores, many of them leave slowly. So after a
 * late END, the time limit is extended whenever a worker has left since the last check. */
static void take_for_lost(struct service *service, uint64_t now_ns)
{
    bool more_left = service->count.gone > service->leaving.gone_at_look;
    service->leaving.gone_at_look = service->count.gone;
    service->leaving.due_ns = service->leaving.is_late && more_left ? now_ns + LEAVE_LATE_NS : NEVER;
    if (service->leaving.due_ns != NEVER)
        return;
    for (unsigned w = 0; w < service->worker_count; w++)
        service_lost(service, w, now_ns);
}

void service_expire(struct service *service, uint64_t now_ns, struct actions *actions)
{
    if (service_deadline(service) > now_ns)
        return;
    service->elsewhere_due_ns = NEVER;
    service_give_up_late_recalls(service, now_ns, actions);
    service_verify_expire(service, now_ns);
    /* the last search for overdue chunks may have failed only because the waiting worker had no free slot */
    service->lease.due_ns = 0;
    if (service->state == SERVICE_ENDING)
        take_for_lost(service, now_ns);
    else
        service_serve(service, now_ns, actions);
}

static double service_mean_iteration_ns(const struct service *service)
{
    double compute = 0, iterations = 0;
    for (unsigned w = 0; w < service->worker_count; w++) {
        compute += (double)service->workers[w].compute_ns;
        iterations += (double)service->workers[w].iterations;
    }
    return iterations > 0 ? compute / iterations : 0;
}

static double expected_ns(const struct served *worker, const struct grant *grant, double mean_ns)
{
    bool has_own = worker->chunks > 0 && worker->iterations > 0;
    double iteration_ns = has_own ? (double)worker->compute_ns / (double)worker->iterations : mean_ns;
    return iteration_ns * (double)grant->count;
}

/* More than thirty years. Times that ranks report are limited to this value, so that sums of them do not overflow. */
#define SPAN_MAX_NS 1e18

static uint64_t after_ns(uint64_t since_ns, double span_ns, uint64_t least_ns)
{
    return span_ns < (double)least_ns ? since_ns + least_ns
                                      : since_ns + (uint64_t)(span_ns < SPAN_MAX_NS ? span_ns : SPAN_MAX_NS);
}

/* Returns the time at which the lease of a chunk ends. If the chunk is queued behind the running chunk, its lease
 * begins when the running chunk ends. */
static uint64_t lease_end_ns(const struct served *worker, const struct grant *grant, double mean_ns)
{
    uint64_t began = grant->since_ns > worker->last_done_ns ? grant->since_ns : worker->last_done_ns;
    double expected = expected_ns(worker, grant, mean_ns);
    return expected <= 0 ? began + LEASE_UNKNOWN_NS : after_ns(began, LEASE_FACTOR * expected, LEASE_MIN_NS);
}

static uint64_t silent_ns(const struct service *service, uint64_t heard_ns, double factor)
{
    if (service->lease.longest_ns == 0)
        return heard_ns + LEASE_UNKNOWN_NS;
    return after_ns(heard_ns, factor * (double)service->lease.longest_ns, SILENCE_MIN_NS);
}

uint64_t service_answer_due_ns(const struct service *service, uint64_t heard_ns)
{
    return heard_ns == NEVER ? NEVER : silent_ns(service, heard_ns, SILENCE_FACTOR_ASKED);
}

/* If results are verified, speeds are not used. The fastest worker may not compute every part, so all workers take
 * turns. */
void service_note_speeds(struct service *service, const double *mean_s)
{
    double least_s = mean_s[0], most_s = mean_s[0];
    service_index_end(service);
    for (unsigned w = 0; w < service->worker_count; w++) {
        service->workers[w].probe_s = mean_s[w];
        least_s = fmin(least_s, mean_s[w]);
        most_s = fmax(most_s, mean_s[w]);
    }
    service->has_speeds = service->spec->verify == 0 && FASTER_FACTOR * least_s <= most_s;
}

void service_note_growth(struct service *service, bool may_grow)
{
    if (service->may_grow && !may_grow)
        /* workers are served in a later step, because this step may have called service_serve() already */
        service->elsewhere_due_ns = 0;
    service->may_grow = may_grow;
    service->lease.due_ns = 0;
}

/* Is `taker` so much faster that its copy would probably finish first? Nobody knows how long the running iteration
 * still takes. If costs are heavy-tailed, it is expected to take as long again as it has taken so far. If more than one
 * iteration remains, `taker` must first repeat what `worker` has computed from the beginning of the grant to its last
 * message. */
static bool would_overtake(const struct service *service, const struct served *taker, const struct served *worker,
                           const struct grant *grant)
{
    if (!service->has_speeds || FASTER_FACTOR * taker->probe_s > worker->probe_s)
        return false;
    const uint64_t past_ns = worker->heard_ns > grant->since_ns ? worker->heard_ns - grant->since_ns : 0;
    return grant->count - grant->received == 1 ||
           (double)past_ns * taker->probe_s <= (double)service->lease.longest_ns * worker->probe_s;
}

struct search {
    unsigned taker;
    double mean_ns; /* mean time of an iteration over all workers; 0: unknown */
    /* no work is left to recall, so a faster worker that computes a copy is not kept from other work */
    bool may_overtake;
    struct grant *grant;
    unsigned worker;
    uint64_t end_ns;
    bool is_for_others;
};

/* Returns the time from which the grant may be copied. If the worker has reported that its whole chunk has begun, only
 * one iteration remains. If the worker cannot be asked because another worker has the chunk too, it may compute the
 * whole chunk without sending a message. */
static uint64_t copy_due_ns(const struct service *service, const struct served *worker, const struct grant *grant,
                            const struct search *search)
{
    if (!service_recalls(service) || service->may_grow)
        return lease_end_ns(worker, grant, search->mean_ns);
    uint64_t heard_ns = grant->since_ns > worker->heard_ns ? grant->since_ns : worker->heard_ns;
    if (search->may_overtake && grant->copy_owner != OWNER_VERIFY &&
        would_overtake(service, &service->workers[search->taker], worker, grant))
        return heard_ns + SILENCE_MIN_NS;
    double iterations = worker->recall == RECALL_POSSIBLE ? (double)(grant->count - grant->received) : 1;
    return silent_ns(service, heard_ns,
                     iterations * (worker->recall >= RECALL_LATE ? SILENCE_FACTOR_ASKED : SILENCE_FACTOR));
}

/* Returns the time limit for workers to leave after an END. A computing worker stops at once, or after the drain time,
 * but only when its executor next looks at messages. That may take an iteration; the limit assumes that an iteration
 * takes no longer than the whole chunk should take. A drain does not wait for that long. An END with `late` does not
 * wait for it either, because the results are not needed. If no chunk was assigned yet, workers may still be probing,
 * and the limit is longer. */
uint64_t service_leave_due_ns(const struct service *service, const struct end *end, uint64_t now_ns)
{
    if (end->drain)
        return now_ns + service->spec->drain_ns + LEAVE_NS;
    if (end->late)
        return now_ns + LEAVE_LATE_NS;
    uint64_t due = now_ns + (service->assigned > 0 ? LEAVE_NS : LEASE_UNKNOWN_NS);
    double mean_ns = service_mean_iteration_ns(service);
    for (unsigned w = 0; service->count.busy > 0 && w < service->worker_count; w++) {
        struct served *worker = &service->workers[w];
        const struct grant *running = worker->holds > 0 ? service_running_grant(worker) : NULL;
        uint64_t end_ns = running != NULL ? after_ns(now_ns, expected_ns(worker, running, mean_ns), LEAVE_NS) : 0;
        due = end_ns > due ? end_ns : due;
    }
    return due;
}

void service_lose_overdue(struct service *service, uint64_t now_ns)
{
    double mean_ns = service_mean_iteration_ns(service);
    if (service->no_speculation)
        return;
    for (unsigned w = 0; service->count.busy > 0 && w < service->worker_count; w++) {
        struct served *worker = &service->workers[w];
        const struct grant *running = worker->holds > 0 ? service_running_grant(worker) : NULL;
        if (running != NULL && lease_end_ns(worker, running, mean_ns) <= now_ns)
            service_lost(service, w, now_ns);
    }
}

static uint64_t end_of_both_ns(const struct service *service, const struct served *worker, struct grant *grant,
                               const struct search *search)
{
    uint64_t end = copy_due_ns(service, worker, grant, search);
    if (grant->copy_owner != OWNER_UNDECIDED)
        return end;
    struct served *other = &service->workers[grant->other_worker];
    uint64_t other_end = copy_due_ns(service, other, grant_slot(other, grant->other_chunk), search);
    return other_end > end ? other_end : end;
}

/* Two workers have copies of a chunk: will this copy probably finish later? If one worker is much slower, its copy
 * will. Otherwise it is the newer copy, because the older one finishes first unless its worker hangs. If a third worker
 * gets the chunk, it replaces the copy that finishes later. */
static bool is_second_choice(const struct service *service, unsigned v, const struct grant *grant)
{
    if (grant->copy_owner != OWNER_UNDECIDED)
        return false;
    const struct grant *other = other_copy(service, grant);
    const struct served *worker = &service->workers[v], *other_worker = &service->workers[grant->other_worker];
    if (would_overtake(service, other_worker, worker, grant))
        return true;
    if (would_overtake(service, worker, other_worker, other))
        return false;
    return other->since_ns < grant->since_ns || (other->since_ns == grant->since_ns && grant->other_worker < v);
}

static bool may_be_overdue(const struct grant *grant)
{
    return grant->chunk != 0 && grant->copy_owner != OWNER_OTHER && grant->received < grant->count;
}

static void look_at_worker(struct service *service, unsigned v, struct search *search)
{
    const unsigned w = search->taker;
    struct served *worker = &service->workers[v];
    for (unsigned i = 0; i < worker->slots; i++) {
        struct grant *grant = &worker->grants[i];
        if (!may_be_overdue(grant) || (grant->copy_owner == OWNER_UNDECIDED && grant->other_worker == w) ||
            is_second_choice(service, v, grant))
            continue;
        uint64_t end = end_of_both_ns(service, worker, grant, search);
        if (grant->copy_owner == OWNER_VERIFY) {
            const uint64_t sooner = end;
            end = service_verify_end_ns(service, grant, w, end);
            search->is_for_others |= end > sooner;
        }
        if (end > search->end_ns || (end == search->end_ns && v >= search->worker))
            continue;
        search->grant = grant;
        search->worker = v;
        search->end_ns = end;
    }
}

static uint64_t last_heard_ns(const struct served *worker, const struct grant *grant)
{
    return grant->since_ns > worker->heard_ns ? grant->since_ns : worker->heard_ns;
}

/* Enters the grant into the bounds. If the chunk has two copies, the later of their two times is used, because both
 * copies must be overdue before a third one is made. */
static void hold_grant(const struct service *service, unsigned w, const struct grant *grant, struct holding *holding)
{
    const struct served *worker = &service->workers[w];
    uint64_t heard_ns = last_heard_ns(worker, grant);
    if (grant->copy_owner == OWNER_UNDECIDED) {
        struct served *other = &service->workers[grant->other_worker];
        const struct grant *copy = grant_slot(other, grant->other_chunk);
        if (!service->has_speeds && is_second_choice(service, w, grant))
            return;
        if (last_heard_ns(other, copy) > heard_ns) {
            heard_ns = last_heard_ns(other, copy);
            worker = other;
        }
    }
    uint64_t *silent = worker->recall >= RECALL_LATE ? &holding->asked_ns : &holding->heard_ns;
    *silent = heard_ns < *silent ? heard_ns : *silent;
}

void service_hold_for_copy(const struct service *service, unsigned w, struct holding *holding)
{
    const struct served *worker = &service->workers[w];
    const bool knows_own = worker->chunks > 0 && worker->iterations > 0;
    for (uint32_t i = 0; i < worker->slots; i++) {
        const struct grant *grant = &worker->grants[i];
        if (!may_be_overdue(grant))
            continue;
        const uint64_t began_ns = grant->since_ns > worker->last_done_ns ? grant->since_ns : worker->last_done_ns;
        const uint64_t lease_ns = knows_own ? lease_end_ns(worker, grant, 0) : began_ns + LEASE_MIN_NS;
        holding->lease_ns = lease_ns < holding->lease_ns ? lease_ns : holding->lease_ns;
        holding->verifies |= grant->copy_owner == OWNER_VERIFY;
        hold_grant(service, w, grant, holding);
    }
}

static uint64_t no_sooner_ns(const struct service *service, const struct holding *holding, const struct search *search)
{
    uint64_t heard_ns = NEVER, asked_ns = NEVER;
    if (!service_recalls(service) || service->may_grow)
        return holding->lease_ns;
    const double probe_s = service->workers[search->taker].probe_s;
    const bool may_overtake = search->may_overtake && FASTER_FACTOR * probe_s <= holding->slowest_probe_s;
    if (holding->heard_ns != NEVER)
        heard_ns =
            may_overtake ? holding->heard_ns + SILENCE_MIN_NS : silent_ns(service, holding->heard_ns, SILENCE_FACTOR);
    if (holding->asked_ns != NEVER)
        asked_ns = may_overtake ? holding->asked_ns + SILENCE_MIN_NS
                                : silent_ns(service, holding->asked_ns, SILENCE_FACTOR_ASKED);
    return heard_ns < asked_ns ? heard_ns : asked_ns;
}

/* Searches the workers below node `i` of the tree: `width` workers from worker `first` on. None of them has a chunk
 * that is due before `due_ns`. Verifications that `taker` may not compute are searched too, because
 * service_find_overdue() must know whether there are any. */
static void look_below(struct service *service, unsigned i, unsigned first, unsigned width, uint64_t due_ns,
                       struct search *search)
{
    const struct holding *tree = service->line.index.tree;
    const bool is_vain = due_ns > search->end_ns || (due_ns == search->end_ns && first >= search->worker);
    if (due_ns == NEVER || (is_vain && (!tree[i].verifies || search->is_for_others)))
        return;
    if (width == 1) {
        if (first != search->taker)
            look_at_worker(service, first, search);
        return;
    }
    const unsigned half = width / 2;
    const uint64_t left_ns = no_sooner_ns(service, &tree[2 * i], search);
    const uint64_t right_ns = no_sooner_ns(service, &tree[2 * i + 1], search);
    if (right_ns < left_ns)
        look_below(service, 2 * i + 1, first + half, half, right_ns, search);
    look_below(service, 2 * i, first, half, left_ns, search);
    if (right_ns >= left_ns)
        look_below(service, 2 * i + 1, first + half, half, right_ns, search);
}

struct grant *service_find_overdue(struct service *service, unsigned w, uint64_t now_ns, unsigned *other)
{
    if (service->no_speculation)
        service->lease.due_ns = NEVER;
    if (service->lease.due_ns > now_ns)
        return NULL;
    service_index_update(service);
    struct search search = {
        .taker = w,
        .mean_ns = service_index_mean_ns(service),
        .may_overtake = service->has_speeds && service->source == SOURCE_IS_DRY && service_recall_is_over(service),
        .worker = 0,
        .end_ns = NEVER,
    };
    look_below(service, 1, 0, service->line.index.leaves, no_sooner_ns(service, &service->line.index.tree[1], &search),
               &search);
    service->lease.due_ns = search.end_ns;
    if (search.is_for_others && search.end_ns > now_ns + LEASE_LOOK_NS)
        service->lease.due_ns = now_ns + LEASE_LOOK_NS;
    if (search.end_ns <= now_ns)
        service_give_up_recall(service, search.worker);
    *other = search.worker;
    return search.end_ns <= now_ns ? search.grant : NULL;
}

void service_share(struct service *service, struct grant *old, unsigned old_worker, struct grant *copy,
                   unsigned copy_worker, struct actions *actions)
{
    assert(old->chunk != 0 && copy->chunk != 0 && old_worker != copy_worker && "two workers have a chunk each");
    assert(!service->dependent && "chunks that depend on one another are not copied");
    /* Both copies are overdue, so the copy that will probably finish later is dropped. */
    if (old->copy_owner == OWNER_UNDECIDED) {
        other_copy(service, old)->copy_owner = OWNER_OTHER;
        service_note_change(service, old->other_worker);
        service_stop_loser(service, old->other_worker, actions);
    }
    old->copy_owner = copy->copy_owner = OWNER_UNDECIDED;
    old->was_copied = copy->was_copied = true;
    service_note_change(service, old_worker);
    service_note_change(service, copy_worker);
    old->other_worker = copy_worker;
    old->other_chunk = copy->chunk;
    copy->other_worker = old_worker;
    copy->other_chunk = old->chunk;
    service_note_copy(service, old_worker, old);
    service_note_copy(service, copy_worker, copy);
    service->lease.has_copied = true;
    service->tally.reissued++;
    service->news |= SERVICE_COUNTED;
}

void service_take_over(struct service *service, struct grant *grant, struct actions *actions)
{
    grant->copy_owner = OWNER_SELF;
    other_copy(service, grant)->copy_owner = OWNER_OTHER;
    service_note_change(service, grant->other_worker);
    service_note_change(service, other_copy(service, grant)->other_worker);
    service->recall.assigned_at_futile = NEVER;
    service_stop_loser(service, grant->other_worker, actions);
}

static bool wins(struct service *service, struct grant *grant, struct actions *actions)
{
    if (grant->copy_owner == OWNER_OTHER)
        return false;
    service_take_over(service, grant, actions);
    return true;
}

static void drop_part(struct service *service, unsigned w, struct grant *grant, uint64_t count,
                      const struct message *message, struct actions *actions)
{
    const struct part part = {w, 0, grant->first + grant->received, count, 0, false};
    service_note_part(service, CHUNK_DROPPED, w, grant->chunk, part.first, count);
    grant->received += count;
    grant->stored += count;
    if (grant->computed && grant->stored == grant->count)
        grant->chunk = 0;
    if (message->payload != PAYLOAD_DATA)
        return;
    actions_add(actions, &(struct action){
                             .type = ACTION_COLLECT,
                             .store = {.part = part, .from = service->ranks[w], .bytes = message->payload_bytes},
                         });
}

bool service_drops(struct service *service, unsigned w, struct grant *grant, uint64_t count, uint64_t digest,
                   const struct message *message, struct actions *actions)
{
    if (grant->copy_owner == OWNER_VERIFY) {
        if (!service_verify_drops(service, w, grant, count, digest))
            return false;
        drop_part(service, w, grant, count, message, actions);
        return true;
    }
    if (wins(service, grant, actions))
        return false;
    service->tally.duplicates++;
    REASON(service->reasons, "results of rank %u are dropped: another was quicker", service->ranks[w]);
    service->news |= SERVICE_COUNTED;
    drop_part(service, w, grant, count, message, actions);
    return true;
}

static struct iterations_failed first_piece(const struct service *service, const struct iterations_failed *failure,
                                            uint64_t first)
{
    const struct range rest = {first, failure->first + failure->count - first};
    struct iterations_failed piece = *failure;
    struct poison poison;
    piece.first = first;
    piece.count = poison_look(&service->poisons, &rest, &poison);
    piece.final |= is_hopeless(service, &poison);
    return piece;
}

static void fail_piece(struct service *service, const struct iterations_failed *piece, uint64_t now_ns)
{
    REASON(service->reasons, "[%" PRIu64 ", %" PRIu64 ") failed with rank %u: %s", piece->first,
           piece->first + piece->count, piece->id, piece->final ? "given up" : "tried again");
    service->ops->failed(service->owner, piece);
    if (piece->final)
        service_clear(service, piece->first, piece->count);
    else
        service_requeue(service, &(struct range){piece->first, piece->count}, now_ns);
}

/* Leaves the failed iterations to the other worker that has a copy of the chunk. Returns false if no other worker has a
 * copy. Also returns false if the iterations are given up and the results of worker `w` count. */
static bool leave_to_other_copy(struct service *service, unsigned w, struct grant *grant,
                                const struct iterations_failed *piece, struct actions *actions)
{
    if (grant->copy_owner != OWNER_UNDECIDED || (piece->final && wins(service, grant, actions)))
        return false;
    service_unshare(service, grant);
    grant->copy_owner = OWNER_OTHER;
    REASON(service->reasons, "[%" PRIu64 ", %" PRIu64 ") failed with rank %u: rank %u has it, too", piece->first,
           piece->first + piece->count, piece->id, service->ranks[grant->other_worker]);
    service->ops->failed(service->owner, piece);
    service_stop_loser(service, w, actions);
    return true;
}

void service_note_try(struct service *service, unsigned w, const struct iterations_failed *failure)
{
    struct iterations_failed told = *failure;
    told.id = service->ranks[w];
    REASON(service->reasons, "[%" PRIu64 ", %" PRIu64 ") failed with rank %u, which tries again", told.first,
           told.first + told.count, told.id);
    service->ops->failed(service->owner, &told);
}

void service_iterations_failed(struct service *service, unsigned w, struct grant *grant,
                               const struct iterations_failed *failure, uint64_t now_ns, struct actions *actions)
{
    struct iterations_failed told = *failure, piece;
    uint64_t end = failure->first + failure->count;
    if (grant->copy_owner == OWNER_VERIFY)
        service_abandon_verification(service, w, grant, true);
    if (grant->copy_owner == OWNER_OTHER)
        return;
    told.id = service->ranks[w];
    service->failed_ns = now_ns;
    service_poison(service,
                   &(struct poison){.first = told.first, .count = told.count, .failures = 1, .failed_by = told.id});
    piece = first_piece(service, &told, told.first);
    if (leave_to_other_copy(service, w, grant, &piece, actions))
        return;
    for (; piece.first < end; piece = first_piece(service, &told, piece.first + piece.count))
        fail_piece(service, &piece, now_ns);
}
