/* SPDX-License-Identifier: MIT */
/* Recall: no worker stays idle while another worker holds iterations that it has not begun.
 *
 * If nothing is left to hand out and workers are idle, a RECALL is sent to the worker with the most remaining work.
 * This worker returns iterations that it has not begun, in a RETURNED: first the chunks that it requested ahead, then
 * the end of its running chunk. The idle workers share these iterations. A worker that has begun all its iterations is
 * not asked again until it is assigned more, so the end of a loop takes few messages. A share is a number of
 * iterations; a worker that is slower than the mean gets fewer. A worker that got too many is asked later. So after a
 * few rounds an idle worker waits no longer than one round trip and one running iteration. This is the bound of list
 * scheduling (Graham 1966).
 *
 * A worker that has not answered after SILENCE_MIN_NS is in the middle of an iteration. The chunks that it requested
 * ahead are then given to other workers, and its answer is not awaited. */
#include "common/service/serving.h"

#include "common/service/pool.h"
#include "common/util/heap.h"
#include "proto/record.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#define SLOWER_MAX 1000

/* May the worker return iterations of the grant? If two workers have the chunk, the worker may return some only if the
 * other worker's answer is late, and if this worker has had its copy for long enough (see service_copy_due_ns()). */
static bool may_give(const struct service *service, const struct grant *grant)
{
    bool has_late_copy = grant->copy_owner == OWNER_UNDECIDED && grant->may_return &&
                         service->workers[grant->other_worker].recall == RECALL_LATE;
    return grant->chunk != 0 && !grant->computed && (grant->copy_owner == OWNER_SELF || has_late_copy);
}

/* Does worker `w` hold iterations that it has not begun and may return? If there is only one such iteration, it counts
 * as begun. The exception is a worker that also holds a chunk of which it may return nothing. */
bool service_may_be_asked(const struct service *service, unsigned w)
{
    const struct served *worker = &service->workers[w];
    uint64_t open = 0;
    unsigned givable = 0;
    if (worker->holds == 0 || worker->recall != RECALL_POSSIBLE)
        return false;
    for (uint32_t i = 0; i < worker->slots && open < 2; i++)
        if (may_give(service, &worker->grants[i])) {
            open += worker->grants[i].count - worker->grants[i].received;
            givable++;
        }
    return givable < worker->holds ? open > 0 : open > 1;
}

static double own_iteration_ns(const struct served *worker, double mean_ns)
{
    bool has_own = worker->chunks > 0 && worker->iterations > 0 && worker->compute_ns > 0;
    return has_own ? (double)worker->compute_ns / (double)worker->iterations : mean_ns;
}

struct open_work {
    double rest_ns, least_ns, iterations;
    uint64_t began_ns;
};

static struct open_work open_work_of(const struct served *worker, double iteration_ns)
{
    struct open_work work = {.began_ns = worker->last_done_ns};
    for (uint32_t i = 0; i < worker->slots; i++) {
        const struct grant *grant = &worker->grants[i];
        if (grant->chunk == 0 || grant->computed)
            continue;
        const double iterations = (double)(grant->count - grant->received);
        work.rest_ns += iteration_ns * iterations;
        work.least_ns += iteration_ns * iterations / 1000;
        work.iterations += iterations;
        if (worker->holds == 1 && grant->since_ns > work.began_ns)
            work.began_ns = grant->since_ns;
    }
    return work;
}

/* Returns the time that a worker still needs, estimated from its earlier chunks. The running iteration may take longer
 * than the finished ones, so the estimate might become negative. Therefore the result is at least 1/1000 of the
 * estimated time for all its open iterations. */
static double open_work_ns(const struct served *worker, double mean_ns, uint64_t now_ns)
{
    const struct open_work work = open_work_of(worker, own_iteration_ns(worker, mean_ns));
    const double rest_ns = work.rest_ns - (double)(now_ns - work.began_ns);
    return rest_ns > work.least_ns ? rest_ns : work.least_ns;
}

void service_hold_for_recall(const struct service *service, unsigned w, struct holding *holding)
{
    const struct served *worker = &service->workers[w];
    const double own_ns = own_iteration_ns(worker, -1);
    const struct open_work work = open_work_of(worker, own_ns);
    holding->askable = 1;
    if (own_ns >= 0) {
        holding->own_end_ns = work.rest_ns + (double)work.began_ns;
        holding->own_least_ns = work.least_ns;
    } else {
        holding->iterations = work.iterations;
        holding->began_ns = (double)work.began_ns;
    }
}

/* Relative margin that is added to bounds of the index. Sums in the bounds may be rounded in another order than the
 * exact values. */
#define ROUNDING 1e-12

static double most_work_ns(const struct holding *holding, double mean_ns, uint64_t now_ns)
{
    const double now = (double)now_ns, all_ns = holding->iterations * mean_ns, end_ns = all_ns + holding->began_ns;
    double most_ns = -1;
    if (holding->own_end_ns >= 0)
        most_ns = fmax(holding->own_least_ns, holding->own_end_ns * (1 + ROUNDING) - now);
    if (holding->iterations >= 0)
        most_ns = fmax(most_ns, fmax(all_ns / 1000 * (1 + ROUNDING), end_ns * (1 + ROUNDING) - now));
    return most_ns;
}

struct busiest {
    double mean_ns;
    uint64_t now_ns;
    unsigned worker;
    double most_ns;
};

/* Searches the workers below node `i` of the tree for a worker that has more work than `*busiest`. Below this node are
 * `width` workers, from worker `first` on. None of them has more work than `bound_ns`. */
static void find_busiest(const struct service *service, struct busiest *busiest, unsigned i, unsigned first,
                         unsigned width, double bound_ns)
{
    const struct holding *tree = service->line.index.tree;
    if (tree[i].askable == 0 || bound_ns < busiest->most_ns ||
        (bound_ns == busiest->most_ns && first > busiest->worker))
        return;
    if (width == 1) {
        const double open_ns = open_work_ns(&service->workers[first], busiest->mean_ns, busiest->now_ns);
        if (open_ns > busiest->most_ns || (open_ns == busiest->most_ns && first < busiest->worker)) {
            busiest->most_ns = open_ns;
            busiest->worker = first;
        }
        return;
    }
    const unsigned half = width / 2;
    const double left_ns = most_work_ns(&tree[2 * i], busiest->mean_ns, busiest->now_ns);
    const double right_ns = most_work_ns(&tree[2 * i + 1], busiest->mean_ns, busiest->now_ns);
    if (right_ns > left_ns)
        find_busiest(service, busiest, 2 * i + 1, first + half, half, right_ns);
    find_busiest(service, busiest, 2 * i, first, half, left_ns);
    if (right_ns <= left_ns)
        find_busiest(service, busiest, 2 * i + 1, first + half, half, right_ns);
}

/* Returns the worker with the most work. If several workers have the same amount, returns the first of them; if no
 * worker may be asked, returns worker_count. Sets `*candidates` to the number of workers that may be asked. If this
 * number is 0, the workers are searched again only after more work was assigned, an answer has arrived, or one of two
 * copies has ended. */
static unsigned find_holder(struct service *service, uint64_t now_ns, unsigned *candidates)
{
    *candidates = 0;
    if (service->recall.assigned_at_futile == service->assigned)
        return service->worker_count;
    service_index_update(service);
    *candidates = service_index_askable(service);
    service->recall.assigned_at_futile = *candidates == 0 ? service->assigned : NEVER;
    if (*candidates == 0)
        return service->worker_count;
    const double mean_ns = service_index_mean_ns(service);
    struct busiest busiest = {mean_ns > 0 ? mean_ns : 1, now_ns, service->worker_count, -1};
    find_busiest(service, &busiest, 1, 0, service->line.index.leaves, INFINITY);
    assert(busiest.worker < service->worker_count && "one of those who may be asked has most to do");
    return busiest.worker;
}

bool service_recall_is_over(struct service *service)
{
    if (service->recall.open > 0 || service->recall.count > 0)
        return false;
    if (service->recall.assigned_at_futile == service->assigned || service->count.busy == 0)
        return true;
    if (!service_index_begin(service))
        return false;
    service_index_update(service);
    return service_index_askable(service) == 0;
}

/* Returns the number of waiting workers for which a RECALL asks this worker. A slow worker answers only at the end of
 * one of its long iterations, so several RECALLs in a row would take long. So it is asked for more work at once, in
 * proportion to its slowness. */
static uint32_t worth_of(const struct service *service, const struct served *worker, unsigned waiting)
{
    double mean_ns = service_index_mean_ns(service), slower = own_iteration_ns(worker, mean_ns) / mean_ns;
    return slower > 1 ? (uint32_t)(waiting * (slower < SLOWER_MAX ? slower : SLOWER_MAX)) : waiting;
}

static bool revokes(const struct service *service)
{
    return !service->no_speculation && !run_spec_has_threads(service->spec);
}

void service_recall(struct service *service, uint64_t now_ns, struct actions *actions)
{
    unsigned candidates = 1;
    if (service_idle(service) + service->recall.waiting_elsewhere <= service->recall.open ||
        !service_index_begin(service))
        return;
    while (candidates > 0 && service_idle(service) + service->recall.waiting_elsewhere > service->recall.open) {
        unsigned waiting = service_idle(service) + service->recall.waiting_elsewhere - service->recall.open;
        unsigned w = find_holder(service, now_ns, &candidates);
        if (candidates == 0)
            break;
        const unsigned share = (waiting + candidates - 1) / candidates;
        const struct recall recall = {worth_of(service, &service->workers[w], share)};
        REASON(service->reasons, "recalls work of rank %u: %u wait and nothing is left", service->ranks[w], waiting);
        service_note_change(service, w);
        service->workers[w].recall = RECALL_SENT;
        service->workers[w].is_revoked = run_spec_has_threads(service->spec);
        service->workers[w].owed++;
        service->workers[w].heard_ns = now_ns;
        service->recall.open++;
        service->lease.due_ns = 0;
        if (now_ns + SILENCE_MIN_NS < service->recall.due_ns)
            service->recall.due_ns = now_ns + SILENCE_MIN_NS;
        actions_send(actions, service->ranks[w], &(struct message){.type = MESSAGE_RECALL, .recall = recall});
    }
}

void service_recall_for_others(struct service *service, unsigned waiting, uint64_t now_ns, struct actions *actions)
{
    service->recall.waiting_elsewhere = waiting;
    if (waiting > 0 && service_recalls(service))
        service_recall(service, now_ns, actions);
}

void service_give_up_recall(struct service *service, unsigned w)
{
    if (service->workers[w].recall < RECALL_SENT)
        return;
    service_note_change(service, w);
    service->recall.open--;
    service->workers[w].recall = RECALL_LATE;
    service->recall.assigned_at_futile = NEVER;
}

static void keep_recalled(struct service *service, const struct range *range)
{
    void *items = service->recall.ranges;
    if (!service_make_room(service, &items, service->recall.count, &service->recall.capacity,
                           sizeof *service->recall.ranges))
        return;
    service->recall.ranges = items;
    service->recall.ranges[service->recall.count++] = *range;
}

/* Takes the chunks after `running` from a worker that is in the middle of an iteration. The worker answers before it
 * begins another chunk. So it has begun none of these chunks, except possibly one in its helper. If results of these
 * chunks arrive, they are dropped. */
static void revoke_behind(struct service *service, unsigned w, const struct grant *running)
{
    struct served *worker = &service->workers[w];
    const uint32_t age = running != NULL ? worker->chunks_assigned - running->chunk : 0;
    service_note_change(service, w);
    worker->is_revoked = true;
    for (uint32_t i = 0; i < worker->slots && running != NULL; i++) {
        struct grant *grant = &worker->grants[i];
        if (grant->chunk == 0 || worker->chunks_assigned - grant->chunk >= age || grant->received > 0 ||
            grant->copy_owner != OWNER_SELF)
            continue;
        const struct range range = {grant->first, grant->count};
        REASON(service->reasons, "[%" PRIu64 ", %" PRIu64 ") is taken from rank %u, which has not begun it",
               range.first, range.first + range.count, service->ranks[w]);
        grant->copy_owner = OWNER_OTHER;
        service->lease.has_copied = true;
        keep_recalled(service, &range);
    }
}

static bool is_due_before(const void *item, const void *other, const void *context)
{
    (void)context;
    return ((const struct copy_due *)item)->due_ns < ((const struct copy_due *)other)->due_ns;
}

static const struct heap_kind copies_by_time = {sizeof(struct copy_due), 2, is_due_before};

static uint64_t copy_due_ns(const struct service *service, const struct grant *grant)
{
    return service_copy_due_ns(grant, grant_slot(&service->workers[grant->other_worker], grant->other_chunk));
}

void service_note_copy(struct service *service, unsigned w, const struct grant *grant)
{
    struct service_recall *recall = &service->recall;
    const struct copy_due due = {copy_due_ns(service, grant), w, grant->chunk};
    void *copies = recall->copies;
    if (!service_make_room(service, &copies, recall->copies_count, &recall->copies_capacity, sizeof due))
        return;
    recall->copies = copies;
    recall->copies[recall->copies_count] = due;
    heap_sift_up(&copies_by_time, NULL, recall->copies, recall->copies_count++);
    recall->copies_due_ns = recall->copies[0].due_ns;
}

static struct grant *find_copy(const struct service *service, const struct copy_due *due)
{
    struct grant *grant = grant_slot(&service->workers[due->worker], due->chunk);
    const bool is_there = grant->chunk == due->chunk && grant->copy_owner == OWNER_UNDECIDED && !grant->may_return;
    return is_there && copy_due_ns(service, grant) == due->due_ns ? grant : NULL;
}

void service_release_copies(struct service *service, uint64_t now_ns)
{
    struct service_recall *recall = &service->recall;
    if (recall->copies_due_ns > now_ns)
        return;
    while (recall->copies_count > 0) {
        const struct copy_due due = recall->copies[0];
        struct grant *grant = find_copy(service, &due);
        if (grant != NULL && due.due_ns > now_ns)
            break;
        recall->copies[0] = recall->copies[--recall->copies_count];
        if (recall->copies_count > 0)
            heap_sift_down(&copies_by_time, NULL, recall->copies, recall->copies_count, 0);
        if (grant == NULL)
            continue;
        grant->may_return = true;
        service_note_change(service, due.worker);
        recall->assigned_at_futile = NEVER;
    }
    recall->copies_due_ns = recall->copies_count > 0 ? recall->copies[0].due_ns : NEVER;
}

static void look_at_answer(struct service *service, unsigned w, uint64_t now_ns, struct actions *actions)
{
    struct served *worker = &service->workers[w];
    if (!worker->is_revoked && worker->heard_ns + SILENCE_MIN_NS <= now_ns) {
        /* Takes iterations at once (ACTION_STEAL) and does not wait for the answer, because the worker may have begun a
         * long iteration just before the RECALL came. */
        const unsigned waiting = service_idle(service) + service->recall.waiting_elsewhere;
        service_note_change(service, w);
        worker->is_revoked = service->recall.awaits_stolen = true;
        actions_add(actions, &(struct action){.type = ACTION_STEAL, .steal = {service->ranks[w], waiting}});
    }
    if (service_answer_due_ns(service, worker->heard_ns) <= now_ns)
        service_give_up_recall(service, w);
}

static void look_at_answers(struct service *service, unsigned i, uint64_t now_ns, struct actions *actions)
{
    const struct holding *holding = &service->line.index.tree[i];
    const bool is_unrevoked = holding->unrevoked_ns != NEVER && holding->unrevoked_ns + SILENCE_MIN_NS <= now_ns;
    if (!is_unrevoked && service_answer_due_ns(service, holding->answer_ns) > now_ns)
        return;
    if (i >= service->line.index.leaves) {
        look_at_answer(service, i - service->line.index.leaves, now_ns, actions);
        return;
    }
    look_at_answers(service, 2 * i, now_ns, actions);
    look_at_answers(service, 2 * i + 1, now_ns, actions);
}

void service_give_up_late_recalls(struct service *service, uint64_t now_ns, struct actions *actions)
{
    if (service->recall.open == 0 || service->recall.due_ns > now_ns || service->state != SERVICE_SERVING ||
        !service_index_begin(service))
        return;
    service_index_update(service);
    look_at_answers(service, 1, now_ns, actions);
    service_index_update(service);
    const struct holding *all = &service->line.index.tree[1];
    service->recall.due_ns = service_answer_due_ns(service, all->answer_ns);
    if (all->unrevoked_ns != NEVER && all->unrevoked_ns + SILENCE_MIN_NS < service->recall.due_ns)
        service->recall.due_ns = all->unrevoked_ns + SILENCE_MIN_NS;
}

/* Does the worker hold iterations that it has not begun and whose results would be dropped? One iteration of its oldest
 * grant counts as begun. */
static bool holds_in_vain(struct served *worker)
{
    const struct grant *oldest = service_running_grant(worker);
    uint64_t in_vain = 0;
    for (uint32_t i = 0; i < worker->slots; i++) {
        const struct grant *grant = &worker->grants[i];
        if (grant->chunk != 0 && !grant->computed && grant->copy_owner == OWNER_OTHER)
            in_vain += grant->count - grant->received;
    }
    return in_vain > 1 || (in_vain == 1 && oldest->copy_owner != OWNER_OTHER);
}

/* Makes a worker stop at its next iteration, because another worker has its chunk or because it is put aside. The
 * service sends no further RECALL to this worker. No worker waits for its answer, so the answer counts as late from the
 * start, and other chunks of this worker may be copied meanwhile. */
void service_stop_loser(struct service *service, unsigned w, struct actions *actions)
{
    struct served *worker = &service->workers[w];
    if (!service_recalls(service) || worker->gone || worker->recalled_all || worker->recall == RECALL_FUTILE ||
        !(worker->is_aside ? worker->holds > 0 : holds_in_vain(worker)))
        return;
    REASON(service->reasons, "stops rank %u: %s", service->ranks[w],
           worker->is_aside ? "it is put aside" : "another has what it computes");
    uint64_t due_ns = service_answer_due_ns(service, worker->heard_ns);
    service_note_change(service, w);
    if (worker->recall < RECALL_LATE)
        worker->recall = RECALL_LATE;
    worker->owed++;
    worker->recalled_all = true;
    service->recall.assigned_at_futile = NEVER;
    service->lease.due_ns = due_ns < service->lease.due_ns ? due_ns : service->lease.due_ns;
    actions_send(actions, service->ranks[w],
                 &(struct message){.type = MESSAGE_RECALL, .recall = {.waiting = RECALL_ALL}});
}

void service_forget_recall(struct service *service, unsigned w)
{
    struct served *worker = &service->workers[w];
    service_note_change(service, w);
    service->count.beginners -= worker->chunks_assigned == 0 && !worker->is_aside;
    if (worker->recall >= RECALL_SENT)
        service->recall.open--;
    worker->recall = RECALL_FUTILE;
    worker->owed = 0;
    worker->recalled_all = false;
}

/* Returns the grant of which the worker has returned `range`: a grant that ends where the range ends. Returns NULL if
 * there is none, or if results of the range have arrived. Several grants may end at the same iteration, because
 * iterations at the end of a grant may fail, or be returned and assigned again. If a RECALL is open, returns the newest
 * of these grants. Otherwise an END has cut the running chunk, and the oldest one is returned. */
static struct grant *grant_that_ends_with(struct served *worker, const struct range *range)
{
    struct grant *found = NULL;
    for (uint32_t i = 0; i < worker->slots; i++) {
        struct grant *grant = &worker->grants[i];
        if (grant->chunk == 0 || grant->computed || grant->first + grant->count != range->first + range->count ||
            grant->first + grant->received > range->first)
            continue;
        const bool is_newer =
            found != NULL && worker->chunks_assigned - grant->chunk < worker->chunks_assigned - found->chunk;
        if (found == NULL || is_newer == (worker->owed > 0))
            found = grant;
    }
    return found;
}

/* Shortens a grant of which the worker has returned a part. If two workers have the chunk, the results of the worker
 * that has returned the part count from now on. This worker runs the iteration before the returned part, or has sent
 * its results. */
static void shorten_grant(struct service *service, struct served *worker, struct grant *grant, uint64_t by,
                          struct actions *actions)
{
    service_note_part(service, CHUNK_RETURNED, (unsigned)(worker - service->workers), grant->chunk,
                      grant->first + grant->count - by, by);
    if (grant->copy_owner == OWNER_UNDECIDED)
        service_take_over(service, grant, actions);
    grant->count -= by;
    if (grant->count > 0)
        return;
    grant->chunk = 0;
    worker->holds--;
    service->count.busy -= worker->holds == 0;
}

static bool take_back(struct service *service, unsigned w, struct grant *grant, const struct range *range,
                      struct actions *actions)
{
    struct served *worker = &service->workers[w];
    if (grant->copy_owner == OWNER_VERIFY) {
        worker->shuns_verifications = true;
        service_abandon_verification(service, w, grant, false);
    }
    shorten_grant(service, worker, grant, range->count, actions);
    if (grant->copy_owner != OWNER_SELF || service->state != SERVICE_SERVING)
        return false;
    keep_recalled(service, range);
    return true;
}

static void note_answer(struct service *service, unsigned w, bool brought, enum recall_state state,
                        struct actions *actions)
{
    struct served *worker = &service->workers[w];
    service->recall.fruitful += brought;
    service->recall.open -= worker->recall >= RECALL_SENT;
    /* overdue chunks are searched again, because the worker may be running a long iteration */
    service->lease.due_ns = 0;
    service->recall.assigned_at_futile = NEVER;
    worker->recall = state;
    worker->recalled_all &= worker->owed > 0;
    if (worker->owed == 0 && worker->recall == RECALL_POSSIBLE)
        service_stop_loser(service, w, actions);
}

int service_receive_returned(struct service *service, unsigned w, const struct message *message,
                             struct actions *actions, struct error *error)
{
    struct served *worker = &service->workers[w];
    struct range range;
    /* if workers have threads, several chunks of a worker may have begun in part */
    const bool has_threads = run_spec_has_threads(service->spec);
    bool brought = false, is_cut = false;
    if (worker->gone)
        return 0;
    if (worker->owed == 0 && service->state != SERVICE_ENDING)
        /* After an END, workers return iterations without a RECALL. */
        return error_set(error, "returns work that was not recalled");
    for (unsigned i = 0; i < message->record_count; i++) {
        assign_record_get(message->records, i, &range.first, &range.count);
        struct grant *grant = grant_that_ends_with(worker, &range);
        if (grant == NULL || service->dependent)
            return error_set(error, "returns iterations that it was not assigned");
        brought |= take_back(service, w, grant, &range, actions);
        is_cut |= grant->chunk != 0;
    }
    if (worker->owed == 0)
        return 0;
    const bool has_begun_all = message->record_count == 0 || (worker->recalled_all && is_cut && !has_threads);
    worker->owed--;
    note_answer(service, w, brought,
                worker->owed > 0 ? RECALL_LATE
                : has_begun_all  ? RECALL_FUTILE
                                 : RECALL_POSSIBLE,
                actions);
    return 0;
}

static struct grant *grant_of_stolen(struct served *worker, const struct stolen *stolen)
{
    struct grant *grant = grant_slot(worker, stolen->chunk);
    const uint64_t end = stolen->range.first + stolen->range.count;
    if (stolen->chunk == 0 || grant->chunk != stolen->chunk || grant->computed)
        return NULL;
    const bool is_its_end = grant->first + grant->count == end && grant->first + grant->received < stolen->range.first;
    return stolen->range.count == 0 || is_its_end ? grant : NULL;
}

/* Called if the worker has begun all iterations of its running chunk. Takes the chunks that are queued behind that
 * chunk. If the running chunk is not known, the oldest chunk counts as the running one. */
static void take_behind(struct service *service, unsigned w, const struct grant *running, struct actions *actions)
{
    if (revokes(service))
        revoke_behind(service, w, running != NULL ? running : service_running_grant(&service->workers[w]));
    if (running == NULL)
        return;
    service_give_up_recall(service, w);
    service_stop_loser(service, w, actions);
}

int service_stolen(struct service *service, unsigned w, uint64_t now_ns, const struct stolen *stolen,
                   struct actions *actions, struct error *error)
{
    struct served *worker = &service->workers[w];
    const struct range *range = &stolen->range;
    if (worker->gone)
        return 0;
    struct grant *grant = grant_of_stolen(worker, stolen);
    if (grant == NULL && range->count > 0)
        return error_set(error, "lets others take iterations that it was not assigned");
    if (worker->owed == 0 || (grant == NULL && stolen->chunk > 0))
        return 0;
    service->traced_ns = now_ns;
    service_note_change(service, w);
    worker->owed -= stolen->is_answer;
    if (range->count > 0) {
        REASON(service->reasons, "[%" PRIu64 ", %" PRIu64 ") is taken from rank %u, which is in an iteration",
               range->first, range->first + range->count, service->ranks[w]);
        if (revokes(service))
            revoke_behind(service, w, grant);
        note_answer(service, w, take_back(service, w, grant, range, actions), RECALL_POSSIBLE, actions);
    } else
        take_behind(service, w, grant, actions);
    service_serve(service, now_ns, actions);
    service->news |= service_has_vain_recall(service) ? SERVICE_RETURNED : 0;
    return 0;
}

bool service_next_recalled(struct service *service, unsigned w, struct range *range)
{
    unsigned idle = service_idle(service);
    if (service->recall.count == 0 || (service->workers[w].holds > 0 && idle > 0))
        return false;
    struct range *last = &service->recall.ranges[service->recall.count - 1];
    uint64_t count = idle > 1 ? (last->count + idle - 1) / idle : last->count;
    *range = (struct range){last->first, count};
    last->first += count;
    last->count -= count;
    service->recall.count -= last->count == 0;
    service->recall.iterations += count;
    return true;
}

uint64_t service_recalled_iterations(const struct service *service)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < service->recall.count; i++)
        total += service->recall.ranges[i].count;
    return total;
}

/* Takes requeued ranges for workers of other services. These ranges could not be assigned here: either they have failed
 * here, or the only worker here that may have them holds other chunks. */
static unsigned take_requeued(struct service *service, unsigned waiting, struct range *ranges, unsigned most)
{
    uint64_t left = 0;
    unsigned count = 0;
    for (unsigned i = 0; i < service->requeued.count; i++)
        left += service->requeued.items[i].range.count;
    left = recall_share(left, service_able(service), waiting);
    for (; left > 0 && count < most; count++) {
        ranges[count] = service->requeued.items[--service->requeued.count].range;
        left -= ranges[count].count < left ? ranges[count].count : left;
    }
    return count;
}

unsigned service_take_recalled(struct service *service, unsigned waiting, struct range *ranges, unsigned most)
{
    unsigned count = 0;
    uint64_t left =
        service->recall.count > 0 ? 0 : recall_share(pool_total(&service->pool), service_able(service), waiting);
    while (service->recall.count > 0 && count < most)
        ranges[count++] = service->recall.ranges[--service->recall.count];
    while (left > 0 && count < most && pool_take_newest(&service->pool, left, &ranges[count]))
        left -= ranges[count++].count;
    return count > 0 ? count : take_requeued(service, waiting, ranges, most);
}
