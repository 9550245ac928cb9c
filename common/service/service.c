/* SPDX-License-Identifier: MIT */
/* Serving workers: see service.h. */
#include "common/service/serving.h"

#include "common/machine/state.h"
#include "common/service/boundary_list.h"
#include "common/service/poison.h"
#include "common/service/pool.h"
#include "proto/record.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const char *const service_state_names[] = {"SERVING", "ENDING"};
static const unsigned service_moves[] = {
    [SERVICE_SERVING] = 1u << SERVICE_ENDING,
    [SERVICE_ENDING] = 0,
};
static const struct state_table service_states = {"service", SERVICE_ENDING + 1, service_state_names, service_moves,
                                                  event_write_name};

static void service_move(struct service *service, enum service_state state, const struct actions *actions)
{
    state_move(&service_states, &service->state, state, actions->event);
}

int service_init(struct service *service, const struct service_config *config)
{
    *service = (struct service){
        .spec = config->spec,
        .ops = config->ops,
        .owner = config->owner,
        .ranks = config->ranks,
        .worker_count = config->workers,
        .room = config->workers,
        .record_bytes = config->record_bytes,
        .elsewhere_due_ns = NEVER,
        .failed_ns = NEVER,
        .no_speculation = config->no_speculation,
        .no_isolation = config->no_isolation,
        .dependent = config->dependent,
        .order.first = config->first,
        .count.present = config->absent ? 0 : config->workers,
        .count.beginners = config->absent ? 0 : config->workers,
        .leaving.due_ns = NEVER,
        .recall = {.due_ns = NEVER, .copies_due_ns = NEVER, .assigned_at_futile = NEVER},
        .first_assign_ns = NEVER,
    };
    rope_init(&service->line.index.line);
    service->workers = calloc(config->workers + 1, sizeof *service->workers);
    service->line.ring = calloc(config->workers + 1, sizeof *service->line.ring);
    service->step.answered = calloc(config->workers + 1, sizeof *service->step.answered);
    service->grants = calloc((size_t)config->workers * GRANTS_LEAST + 1, sizeof *service->grants);
    service->step.more = calloc(config->workers + 1, SERVICE_MORE);
    bool complete =
        service->workers && service->line.ring && service->step.answered && service->grants && service->step.more;
    if (!complete || pool_init(&service->pool, config->workers, config->pool_capacity) < 0 ||
        service_verify_init(service) < 0) {
        service_fini(service);
        return -1;
    }
    for (unsigned w = 0; w < service->count.present; w++)
        service_begin_to_serve(service, w);
    return 0;
}

void service_begin_to_serve(struct service *service, unsigned w)
{
    struct served *worker = &service->workers[w];
    assert(worker->grants == NULL && "room for the chunks of a worker is made once");
    worker->present = true;
    worker->slots = GRANTS_LEAST;
    worker->grants = service->grants + (size_t)w * GRANTS_LEAST;
}

void service_fini(struct service *service)
{
    for (unsigned w = 0; service->workers != NULL && w < service->worker_count; w++)
        if (service->workers[w].slots > GRANTS_LEAST)
            free(service->workers[w].grants);
    free(service->workers);
    free(service->grants);
    free(service->step.more);
    free(service->line.ring);
    free(service->step.answered);
    free(service->requeued.items);
    free(service->recall.ranges);
    free(service->recall.copies);
    free(service->losses.items);
    free(service->given_up.records);
    service_verify_fini(service);
    poison_fini(&service->poisons);
    boundary_list_fini(&service->order.ends);
    boundary_list_fini(&service->order.beginnings);
    service_index_fini(service);
    pool_fini(&service->pool);
    *service = (struct service){0};
}

unsigned service_find(const struct service *service, unsigned rank)
{
    return rank_index(service->ranks, service->worker_count, rank);
}

bool service_needs(const struct service *service, unsigned rank)
{
    const unsigned w = service_find(service, rank);
    return service->no_speculation && w < service->worker_count &&
           (service->dependent || service->workers[w].holds > 0);
}

static struct grant *find_grant(struct served *worker, uint32_t chunk)
{
    struct grant *grant = grant_slot(worker, chunk);
    return chunk != 0 && grant->chunk == chunk && !grant->computed ? grant : NULL;
}

static void release_chunk(struct service *service, struct served *worker)
{
    worker->holds--;
    service->count.busy -= worker->holds == 0;
}

/* For functions that are called only for rare events: the compiler moves them out of the usual path of a chunk. */
#define RARELY  __attribute__((noinline, cold))
#define TRACING __attribute__((noinline))

TRACING void service_trace_part(const struct service *service, enum trace_record_kind kind, unsigned w, uint32_t chunk,
                                const struct range *range)
{
    *trace_next(service->trace) = (struct trace_record){
        .at_ns = service->traced_ns,
        .first = range->first,
        .count = range->count,
        .worker = service->ranks[w],
        .chunk = chunk,
        .kind = (uint8_t)kind,
    };
    trace_note(service->trace);
}

/* Ends a chunk after all its results are stored. The chunk may be empty by now, if the iterations at its end have
 * failed. */
static void commit_grant(struct service *service, unsigned w, struct grant *grant)
{
    const struct part whole = {w, grant->chunk, grant->first, grant->count, grant->digest, false};
    service_note_part(service, CHUNK_STORED, w, grant->chunk, grant->first, grant->count);
    grant->chunk = 0;
    if (whole.count > 0)
        service->ops->committed(service->owner, &whole);
}

/* Commits a part in a loop with dependencies. If the worker of the part was lost, the chunk has no grant any more, and
 * the part is ignored. */
RARELY static void commit_whole(struct service *service, const struct part *part)
{
    struct grant *grant = grant_slot(&service->workers[part->worker], part->chunk);
    if (grant->chunk != part->chunk)
        return;
    grant->digest = grant->stored > 0 ? grant->digest + part->digest : part->digest;
    grant->stored += part->count;
    service->workers[part->worker].iterations += part->count;
    if (grant->computed && grant->stored == grant->count)
        commit_grant(service, part->worker, grant);
}

/* Records what happened to a stored part. For a part of a third computation the record is CHUNK_DROPPED, because an
 * earlier record says that the same iterations were stored. */
TRACING static void trace_commit(struct service *service, const struct part *part)
{
    const bool is_third = service->verify.disputed > 0 && service_is_third(service, part);
    service_trace_part(service, is_third ? CHUNK_DROPPED : CHUNK_STORED, part->worker, part->chunk,
                       &(struct range){part->first, part->count});
}

static void commit(struct service *service, const struct part *part)
{
    struct served *worker = &service->workers[part->worker];
    struct grant *grant = grant_slot(worker, part->chunk);
    if (service->dependent) {
        commit_whole(service, part);
        return;
    }
    grant->stored += part->count;
    if (grant->computed && grant->stored == grant->count)
        grant->chunk = 0;
    if (service->trace != NULL && !grant->is_told_whole)
        trace_commit(service, part);
    if (service->verify.disputed > 0 && service_take_third(service, part))
        return;
    worker->iterations += part->count;
    const bool is_held_back = service->verify.on && service_hold_back(service, part);
    if (service->poisons.count > 0)
        service_clear(service, part->first, part->count);
    if (!is_held_back)
        service->ops->committed(service->owner, part);
}

static int check_payload(const struct service *service, const struct message *message, uint64_t count,
                         struct error *error)
{
    if (service->record_bytes == 0)
        return message->payload == PAYLOAD_NONE ? 0 : error_set(error, "sent results that the job does not collect");
    if (count == 0)
        return message->payload == PAYLOAD_NONE ? 0 : error_set(error, "sent results of a chunk that had none left");
    if (message->payload == PAYLOAD_NONE)
        return error_set(error, "sent a completion without its results");
    uint64_t expected = message->payload_bytes;
    if (service->record_bytes != RECORD_VARIABLE && __builtin_mul_overflow(count, service->record_bytes, &expected))
        expected = UINT64_MAX;
    if (message->payload_bytes != expected)
        return error_set(error, "sent %llu bytes of results instead of %llu",
                         (unsigned long long)message->payload_bytes, (unsigned long long)expected);
    if (count > 1 && expected > SLICE_MAX)
        return error_set(error, "sent %llu bytes of results at once, more than %u", (unsigned long long)expected,
                         SLICE_MAX);
    return 0;
}

static int service_take_part(struct service *service, unsigned w, struct grant *grant, uint64_t count, uint64_t digest,
                             const struct message *message, struct actions *actions, struct error *error)
{
    if (check_payload(service, message, count, error) < 0)
        return -1;
    if (count == 0) {
        if (grant->stored < grant->count)
            return 0;
        if (service->dependent)
            commit_grant(service, w, grant);
        grant->chunk = 0;
        return 0;
    }
    if (grant->copy_owner != OWNER_SELF && service_drops(service, w, grant, count, digest, message, actions))
        return 0;
    struct part part = {w, grant->chunk, grant->first + grant->received, count, digest, message->has_failed};
    grant->received += count;
    if (message->payload == PAYLOAD_NONE) {
        commit(service, &part);
        return 0;
    }
    service->parts_on_way++;
    actions_add(actions, &(struct action){
                             .type = message->payload == PAYLOAD_INLINE ? ACTION_STORE : ACTION_COLLECT,
                             .store = {.part = part,
                                       .from = service->ranks[w],
                                       .data = message->payload_data,
                                       .bytes = message->payload_bytes},
                         });
    return 0;
}

static void tell_finished(struct service *service, unsigned w, const struct grant *grant, const struct request *request)
{
    const struct served *worker = &service->workers[w];
    const struct feedback_record feedback = {
        .worker = service->ranks[w],
        .chunks = 1,
        .iterations = grant->count,
        .compute_ns = request->compute_ns,
        .wait_ns = worker->chunks == 1 ? 0 : request->wait_ns,
        .deviation_ns = request->deviation_ns,
        .samples = request->samples,
    };
    service->ops->finished(service->owner, w, &feedback);
}

/* If results are not collected and no other worker has the chunk, this record says that the whole chunk is stored. In
 * this case no other record follows. */
TRACING static void trace_completion(const struct service *service, unsigned w, struct grant *grant,
                                     const struct request *request)
{
    grant->is_told_whole = service->record_bytes == 0 && !service->dependent && !service->verify.on &&
                           grant->received == 0 && grant->copy_owner == OWNER_SELF;
    *trace_next(service->trace) = (struct trace_record){
        .at_ns = service->traced_ns,
        .first = grant->first,
        .count = grant->count,
        .figure = request->compute_ns,
        .wait_ns = request->wait_ns,
        .worker = service->ranks[w],
        .chunk = grant->chunk,
        .kind = CHUNK_COMPUTED,
        .is_whole = grant->is_told_whole,
    };
    trace_note(service->trace);
}

/* Handles the completion of a chunk. The technique does not learn from the chunk if iterations failed, or if another
 * worker's results count. Returns the same values as service_message(). */
static int complete_chunk(struct service *service, unsigned w, uint64_t now_ns, const struct request *request,
                          struct error *error)
{
    struct served *worker = &service->workers[w];
    struct grant *grant = find_grant(worker, request->chunk);
    if (grant == NULL && worker->gone)
        return 1;
    if (grant == NULL)
        return error_set(error, "says that it finished chunk %u, which it was not assigned", request->chunk);
    worker->chunks++;
    worker->compute_ns += request->compute_ns;
    worker->wait_ns += request->wait_ns;
    worker->last_done_ns = now_ns;
    if (request->compute_ns > service->lease.longest_ns * grant->count && grant->count > 0)
        service->lease.longest_ns = request->compute_ns / grant->count;
    grant->computed = true;
    release_chunk(service, worker);
    if (service->trace != NULL)
        trace_completion(service, w, grant, request);
    if (service->ops->finished != NULL && !grant->flawed && grant->copy_owner < OWNER_OTHER)
        tell_finished(service, w, grant, request);
    return 0;
}

RARELY static void enqueue_in_line(struct service *service, unsigned w)
{
    rope_push(&service->line.index.line, w);
    service_index_note_stale(service, w);
}

void service_enqueue(struct service *service, unsigned w)
{
    const unsigned last = service->line.first + service->line.count++;
    if (__builtin_expect(service->line.index.is_on, 0))
        enqueue_in_line(service, w);
    else
        service->line.ring[last < service->worker_count ? last : last - service->worker_count] = w;
}

static void note_load(struct service *service, unsigned w, uint16_t load)
{
    struct served *worker = &service->workers[w];
    if (load == 0 || load == worker->load)
        return;
    worker->load = load;
    if (service->ops->loaded != NULL)
        service->ops->loaded(service->owner, w);
}

static void serve_verifications(struct service *service, uint64_t now_ns, struct actions *actions);

struct completions {
    struct request of[ASKS_MAX];
    unsigned count;
};

static void list_completions(const struct message *message, struct completions *completions)
{
    uint32_t chunk = message->request.chunk;
    completions->count = message->request.done ? message->record_count + 1 : 0;
    for (unsigned i = completions->count; i-- > 0; chunk = chunk_number_before(chunk)) {
        if (i < message->record_count)
            completion_get(message->records, i, &completions->of[i]);
        else
            completions->of[i] = message->request;
        completions->of[i].chunk = chunk;
    }
}

/* Is the worker's next slot occupied by a chunk whose results have not arrived? In this case the worker gets no chunk
 * now. This can happen if many chunks were assigned to the worker and recalled. */
static bool lacks_slot(struct served *worker)
{
    return worker->asks > 0 && grant_slot(worker, chunk_number_after(worker->chunks_assigned))->chunk != 0;
}

/* Handles a REQUEST. Completed chunks are recorded before new chunks are assigned, so that a learning technique already
 * knows of them. The worker is served before its results are stored, because it may be waiting for its next chunk. */
static int receive_request(struct service *service, unsigned w, uint64_t now_ns, const struct message *message,
                           struct actions *actions, struct error *error)
{
    struct served *worker = &service->workers[w];
    struct completions done;
    int refused;
    list_completions(message, &done);
    for (unsigned i = 0; i < done.count; i++)
        if ((refused = complete_chunk(service, w, now_ns, &done.of[i], error)) != 0)
            return refused;
    if (worker->gone)
        /* This worker was declared lost but is alive. It gets no chunks, because they would never be requeued. */
        return 1;
    note_load(service, w, message->request.load);
    if (service->state == SERVICE_SERVING) {
        const unsigned asks = message->request.asks;
        if (worker->asks + asks > ASKS_MAX)
            return error_set(error, "asks for more than %d chunks at once", ASKS_MAX);
        if (worker->asks == 0 && asks > 0) {
            worker->asked_ns = now_ns;
            if (!worker->is_aside)
                service_enqueue(service, w);
        }
        worker->asks += asks;
        service->line.asks += asks;
    }
    service_serve(service, now_ns, actions);
    const bool lacked_slot = lacks_slot(worker);
    for (unsigned i = 0; i < done.count; i++) {
        struct grant *grant = grant_slot(worker, done.of[i].chunk);
        uint64_t rest = grant->count - grant->received;
        if (service_take_part(service, w, grant, rest, done.of[i].digest, message, actions, error) < 0)
            return -1;
    }
    /* The worker's leaf in the index may have been updated while the worker was served. The worker has changed since
     * then, so it is marked as changed again. */
    service_note_change(service, w);
    if (lacked_slot && !lacks_slot(worker))
        /* Workers are served again at once, but in a later step, because the ASSIGNs of this step still use `more`. */
        service->elsewhere_due_ns = now_ns;
    if (service->verify.queued > 0)
        serve_verifications(service, now_ns, actions);
    return 0;
}

static int receive_result(struct service *service, unsigned w, uint64_t now_ns, const struct message *message,
                          struct actions *actions, struct error *error)
{
    const struct result *result = &message->result;
    struct grant *grant = find_grant(&service->workers[w], result->chunk);
    if (grant == NULL && service->workers[w].gone)
        return 1;
    if (grant == NULL || result->count > grant->count - grant->received)
        return error_set(error, "sent %llu results of chunk %u, which it was not assigned or which is shorter",
                         (unsigned long long)result->count, result->chunk);
    if (service_take_part(service, w, grant, result->count, result->digest, message, actions, error) < 0)
        return -1;
    if (service->verify.queued > 0)
        serve_verifications(service, now_ns, actions);
    return 0;
}

/* Handles failed iterations. They follow the iterations of the chunk whose results have arrived, and they are finished
 * without a result. In a loop with dependencies the message may also name other iterations of the chunk, which the
 * worker will retry. The owner calls service_serve() afterwards. */
static int receive_iterations_failed(struct service *service, unsigned w, uint64_t now_ns,
                                     const struct iterations_failed *failure, struct actions *actions,
                                     struct error *error)
{
    struct grant *grant = find_grant(&service->workers[w], failure->id);
    if (grant == NULL && service->workers[w].gone)
        return 1;
    if (grant != NULL && service->dependent && !failure->final && failure->first >= grant->first &&
        failure->first - grant->first <= grant->count &&
        failure->count <= grant->count - (failure->first - grant->first)) {
        service_note_try(service, w, failure);
        return 0;
    }
    if (grant == NULL || failure->first != grant->first + grant->received ||
        failure->count > grant->count - grant->received)
        return error_set(error, "says that iterations of chunk %u failed, which were not assigned to it or are over",
                         failure->id);
    grant->flawed = true;
    service_note_part(service, CHUNK_FAILED, w, grant->chunk, failure->first, failure->count);
    /* The failed iterations are cut off the end of the chunk. The iterations before them are committed as one chunk. */
    if (service->dependent && grant->received + failure->count == grant->count) {
        grant->count = grant->received;
    } else {
        grant->received += failure->count;
        grant->stored += failure->count;
    }
    service_iterations_failed(service, w, grant, failure, now_ns, actions);
    return 0;
}

static void service_drop_unfinished(struct service *service, unsigned w)
{
    struct served *worker = &service->workers[w];
    for (unsigned i = 0; i < worker->slots; i++)
        if (worker->grants[i].chunk != 0 && !worker->grants[i].computed) {
            if (worker->grants[i].copy_owner == OWNER_VERIFY)
                service_abandon_verification(service, w, &worker->grants[i], true);
            service_unshare(service, &worker->grants[i]);
            service_note_rest(service, CHUNK_UNDONE, w, &worker->grants[i]);
            worker->grants[i].chunk = 0;
            release_chunk(service, worker);
        }
}

static int service_receive_goodbye(struct service *service, unsigned w, const struct message *message,
                                   struct error *error)
{
    struct served *worker = &service->workers[w];
    if (service->state != SERVICE_ENDING)
        return error_set(error, "sent GOODBYE before it was sent END");
    if (worker->gone)
        return 0;
    service_drop_unfinished(service, w);
    service_forget_recall(service, w);
    worker->gone = true;
    service->count.aside -= worker->is_aside;
    worker->wait_ns += message->goodbye.wait_ns;
    worker->messages = message->goodbye.messages;
    worker->bytes = message->goodbye.bytes;
    service->tally.messages += worker->messages;
    service->tally.bytes += worker->bytes;
    service->count.gone++;
    return 0;
}

int service_message(struct service *service, unsigned w, uint64_t now_ns, const struct message *message,
                    struct actions *actions, struct error *error)
{
    service->workers[w].heard_ns = service->traced_ns = now_ns;
    service_note_change(service, w);
    switch (message->type) {
    case MESSAGE_REQUEST: return receive_request(service, w, now_ns, message, actions, error);
    case MESSAGE_RESULT: return receive_result(service, w, now_ns, message, actions, error);
    case MESSAGE_RETURNED:
        if (service_receive_returned(service, w, message, actions, error) < 0)
            return -1;
        service_serve(service, now_ns, actions);
        service->news |= service_has_vain_recall(service) ? SERVICE_RETURNED : 0;
        return 0;
    case MESSAGE_ITERATIONS_FAILED:
        return receive_iterations_failed(service, w, now_ns, &message->iterations_failed, actions, error);
    case MESSAGE_GOODBYE: return service_receive_goodbye(service, w, message, error);
    case MESSAGE_ECHO: actions_send(actions, service->ranks[w], message); return 0;
    default: return error_set(error, "sent %s, which is not for it to send", message_name(message->type));
    }
}

TRACING static void trace_assignment(const struct service *service, unsigned w, const struct grant *grant,
                                     enum chunk_reason reason)
{
    *trace_next(service->trace) = (struct trace_record){
        .at_ns = grant->since_ns,
        .first = grant->first,
        .count = grant->count,
        .figure = service->workers[w].asked_ns,
        .worker = service->ranks[w],
        .chunk = grant->chunk,
        .kind = CHUNK_ASSIGNED,
        .reason = (uint8_t)reason,
    };
    trace_note(service->trace);
}

static inline __attribute__((always_inline)) struct grant *assign(struct service *service, unsigned w,
                                                                  const struct range *range, enum chunk_reason reason,
                                                                  uint64_t now_ns, struct actions *actions)
{
    struct served *worker = &service->workers[w];
    service->count.beginners -= worker->chunks_assigned == 0;
    worker->recall = RECALL_POSSIBLE;
    uint32_t chunk = worker->chunks_assigned = chunk_number_after(worker->chunks_assigned);
    struct grant *grant = grant_slot(worker, chunk);
    grant->first = range->first;
    grant->count = range->count;
    grant->received = grant->stored = 0;
    grant->since_ns = now_ns;
    grant->chunk = chunk;
    grant->computed = grant->flawed = grant->was_copied = grant->may_return = grant->is_told_whole = false;
    grant->copy_owner = OWNER_SELF;
    service->count.busy += worker->holds++ == 0;
    service->assigned++;
    actions->assignments++;
    if (service->first_assign_ns == NEVER)
        service->first_assign_ns = now_ns;
    worker->asks--;
    service->line.asks--;
    if (worker->answers++ > 0)
        assign_record_put(service->step.more + (size_t)w * SERVICE_MORE, worker->answers - 2, range->first,
                          range->count);
    else {
        worker->answer = (struct assign){.chunk = chunk, .first = range->first, .count = range->count};
        service->step.answered[service->step.answered_count++] = w;
    }
    if (service->trace != NULL)
        trace_assignment(service, w, grant, reason);
    return grant;
}

RARELY static struct grant *assign_seldom(struct service *service, unsigned w, const struct range *range,
                                          enum chunk_reason reason, uint64_t now_ns, struct actions *actions)
{
    service_note_change(service, w);
    return assign(service, w, range, reason, now_ns, actions);
}

static inline void send_answer(const struct service *service, unsigned w, struct actions *actions)
{
    const struct served *worker = &service->workers[w];
    actions_send(actions, service->ranks[w],
                 &(struct message){
                     .type = MESSAGE_ASSIGN,
                     .assign = worker->answer,
                     .records = service->step.more + (size_t)w * SERVICE_MORE,
                     .record_count = worker->answers - 1,
                 });
}

/* The ASSIGNs are sent first. So a worker has its chunk before it is told which worker has the next chunk. */
RARELY static void send_dependent_answers(struct service *service, struct actions *actions)
{
    for (unsigned i = 0; i < service->step.answered_count; i++)
        send_answer(service, service->step.answered[i], actions);
    service_tell_neighbours(service, actions);
    for (unsigned i = 0; i < service->step.answered_count; i++)
        service->workers[service->step.answered[i]].answers = 0;
    service->step.answered_count = 0;
}

static void send_answers(struct service *service, struct actions *actions)
{
    if (service->dependent) {
        send_dependent_answers(service, actions);
        return;
    }
    for (unsigned i = 0; i < service->step.answered_count; i++) {
        send_answer(service, service->step.answered[i], actions);
        service->workers[service->step.answered[i]].answers = 0;
    }
    service->step.answered_count = 0;
}

RARELY static bool widen(struct service *service, struct served *worker)
{
    uint32_t slots = 2 * worker->slots;
    struct grant *wider = slots <= GRANTS_MAX ? calloc(slots, sizeof *wider) : NULL;
    if (wider == NULL)
        return false;
    for (uint32_t i = 0; i < worker->slots; i++)
        if (worker->grants[i].chunk != 0)
            wider[worker->grants[i].chunk & (slots - 1)] = worker->grants[i];
    if (worker->slots > GRANTS_LEAST)
        free(worker->grants);
    worker->grants = wider;
    worker->slots = slots;
    service_note_change(service, (unsigned)(worker - service->workers));
    return true;
}

/* Does the worker compute iterations at which workers have died? Such a worker gets no other chunk. If it died while it
 * had two chunks, nobody would know which of them was the cause. */
RARELY static bool holds_suspects(const struct service *service, struct served *worker)
{
    const struct grant *running = worker->holds > 0 ? service_running_grant(worker) : NULL;
    return running != NULL && service_wants_care(service, running);
}

/* May the worker get a chunk now? In four cases it may not. The results of GRANTS_MAX of its chunks have not arrived.
 * It has a chunk that must run alone. It holds a chunk while other workers have not had their first. It owes an answer
 * to a RECALL: a new chunk might end at the same iteration as a chunk of which it returns a part. */
static bool has_slot(struct service *service, unsigned w)
{
    struct served *worker = &service->workers[w];
    bool is_closed = (worker->answers > 0 && worker->answer.isolated) ||
                     (service->count.beginners > 0 && worker->holds > 0 && service_recalls(service)) ||
                     worker->owed > 0 || (service->poisons.count > 0 && holds_suspects(service, worker));
    if (grant_slot(worker, chunk_number_after(worker->chunks_assigned))->chunk != 0 && !widen(service, worker))
        return false;
    return !is_closed;
}

RARELY static bool assign_requeued(struct service *service, unsigned w, uint64_t now_ns, struct actions *actions)
{
    struct range range;
    bool isolated;
    service->news &= ~(unsigned)SERVICE_RETURNED;
    if (!service_take_requeued(service, w, now_ns, &range, &isolated))
        return false;
    REASON(service->reasons, "rank %u gets [%" PRIu64 ", %" PRIu64 ") again%s: it was returned", service->ranks[w],
           range.first, range.first + range.count, isolated ? ", with care" : "");
    assign_seldom(service, w, &range, CHUNK_REASON_REQUEUED, now_ns, actions);
    service->workers[w].answer.isolated = isolated;
    return true;
}

/* Assigns a range. If the range contains iterations with deaths or failures, it is requeued instead. In a loop with
 * dependencies such a range is assigned all the same, because the chunks must keep their order. */
RARELY static bool assign_poison(struct service *service, unsigned w, const struct range *range,
                                 enum chunk_reason reason, uint64_t now_ns, struct actions *actions)
{
    struct poison poison;
    if (service->dependent ||
        (poison_look(&service->poisons, range, &poison) == range->count && poison.deaths + poison.failures == 0))
        return assign_seldom(service, w, range, reason, now_ns, actions) != NULL;
    service_put_requeued(service, range, now_ns);
    return assign_requeued(service, w, now_ns, actions);
}

RARELY static bool assign_recalled(struct service *service, unsigned w, uint64_t now_ns, struct actions *actions)
{
    struct range range;
    if (!service_next_recalled(service, w, &range))
        return false;
    REASON(service->reasons, "rank %u gets [%" PRIu64 ", %" PRIu64 "), which was recalled", service->ranks[w],
           range.first, range.first + range.count);
    return service->poisons.count == 0
               ? assign_seldom(service, w, &range, CHUNK_REASON_RECALLED, now_ns, actions) != NULL
               : assign_poison(service, w, &range, CHUNK_REASON_RECALLED, now_ns, actions);
}

RARELY static bool assign_verification(struct service *service, unsigned w, uint64_t now_ns, struct actions *actions)
{
    struct verification *verification = service_next_verification(service, w);
    if (verification == NULL)
        return false;
    REASON(service->reasons, "rank %u gets [%" PRIu64 ", %" PRIu64 ") to be compared: rank %u has computed it",
           service->ranks[w], verification->range.first, verification->range.first + verification->range.count,
           service->ranks[verification->worker[0]]);
    struct grant *grant = assign_seldom(service, w, &verification->range, CHUNK_REASON_VERIFY, now_ns, actions);
    service_begin_verification(service, verification, w, grant);
    return true;
}

RARELY static void assign_copy(struct service *service, unsigned w, uint64_t now_ns, struct actions *actions)
{
    unsigned other;
    struct grant *overdue = service_find_overdue(service, w, now_ns, &other);
    if (overdue == NULL)
        return;
    if (overdue->copy_owner == OWNER_VERIFY) {
        service_abandon_verification(service, other, overdue, true);
        assign_verification(service, w, now_ns, actions);
        service->lease.due_ns = 0;
        return;
    }
    const struct range rest = {overdue->first + overdue->received, overdue->count - overdue->received};
    REASON(service->reasons, "rank %u gets [%" PRIu64 ", %" PRIu64 ") a second time: rank %u has it for %.3f s",
           service->ranks[w], rest.first, rest.first + rest.count, service->ranks[other],
           (double)(now_ns - overdue->since_ns) / 1e9);
    struct grant *copy = assign_seldom(service, w, &rest, CHUNK_REASON_COPY, now_ns, actions);
    service->workers[w].answer.isolated = service_wants_care(service, overdue);
    service_share(service, overdue, other, copy, w, actions);
    service->lease.due_ns = 0;
}

RARELY static bool explain_chunk(struct service *service, unsigned w, struct range *range)
{
    bool has_own = pool_has_own(&service->pool, w);
    unsigned count = service->pool.count;
    if (!pool_take(&service->pool, w, range))
        return false;
    if (service->ops->on_empty == NULL)
        reason_note(service->reasons, "rank %u gets [%" PRIu64 ", %" PRIu64 "): %s", service->ranks[w], range->first,
                    range->first + range->count,
                    service->dependent             ? "the oldest of all"
                    : has_own                      ? "its own"
                    : service->pool.count == count ? "a part of another's, which is too large for it"
                                                   : "another's, as it has none of its own");
    return true;
}

TRACING static enum chunk_reason reason_of_pool(const struct service *service, unsigned w)
{
    return service->ops->on_empty != NULL || service->dependent ? CHUNK_REASON_CUT
           : pool_has_own(&service->pool, w)                    ? CHUNK_REASON_OWN
                                                                : CHUNK_REASON_OTHER;
}

/* If this many chunks of the pool were requeued for other workers, the present worker must wait. */
#define TRIES_MAX 16

static inline bool assign_next(struct service *service, unsigned w, uint64_t now_ns, struct actions *actions)
{
    struct range range;
    if (service->verify.queued > 0 && assign_verification(service, w, now_ns, actions))
        return true;
    if (service->requeued.count > 0 && assign_requeued(service, w, now_ns, actions))
        return true;
    if (service->recall.count > 0 && assign_recalled(service, w, now_ns, actions))
        return true;
    for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
        if (service->pool.count == 0 && service->ops->on_empty != NULL)
            service->ops->on_empty(service->owner, w);
        const enum chunk_reason reason = service->trace != NULL ? reason_of_pool(service, w) : CHUNK_REASON_NONE;
        if (!(service->reasons != NULL ? explain_chunk(service, w, &range) : pool_take(&service->pool, w, &range)))
            return false;
        if (service->poisons.count == 0)
            return assign(service, w, &range, reason, now_ns, actions) != NULL;
        if (assign_poison(service, w, &range, reason, now_ns, actions))
            return true;
    }
    return false;
}

/* Returns the first waiting worker. If there is an index, the first `skipped` workers of its queue are left out. */
static inline unsigned first_waiting(const struct service *service, unsigned skipped)
{
    return service->line.index.is_on ? rope_at(&service->line.index.line, skipped)
                                     : service->line.ring[service->line.first];
}

RARELY static unsigned dequeue_from_line(struct service *service)
{
    const unsigned w = rope_pop(&service->line.index.line);
    service_index_note_stale(service, w);
    return w;
}

static inline unsigned dequeue(struct service *service)
{
    service->line.count--;
    if (__builtin_expect(service->line.index.is_on, 0))
        return dequeue_from_line(service);
    const unsigned w = service->line.ring[service->line.first];
    if (++service->line.first == service->worker_count)
        service->line.first = 0;
    return w;
}

static inline void end_turn(struct service *service)
{
    const unsigned w = dequeue(service);
    if (service->workers[w].asks > 0)
        service_enqueue(service, w);
}

RARELY static void serve_verifications(struct service *service, uint64_t now_ns, struct actions *actions)
{
    const uint64_t assigned = service->assigned, look_ns = now_ns + LEASE_LOOK_NS;
    for (unsigned left = service->line.count; left > 0 && service->state == SERVICE_SERVING; left--) {
        const unsigned w = first_waiting(service, 0);
        if (service->workers[w].holds == 0 && service->verify.queued > 0 && has_slot(service, w))
            assign_verification(service, w, now_ns, actions);
        end_turn(service);
    }
    send_answers(service, actions);
    service_verify_look(service, now_ns);
    if (service->assigned != assigned && service->lease.due_ns > look_ns)
        /* this timer is needed: if a worker hangs with a verification, nothing else may cause a step */
        service->lease.due_ns = look_ns;
}

/* Returns how many workers wait before the next idle worker, from position `skipped` of the queue on. If speeds are
 * known, first moves the fastest idle worker to the front. */
static unsigned before_free(struct service *service, unsigned skipped)
{
    struct rope *line = &service->line.index.line;
    service_index_update(service);
    if (service->has_speeds)
        rope_bring_least(line);
    return rope_before_able(line, skipped);
}

/* Moves the first `count` workers to the end of the queue. */
static inline void move_to_end(struct service *service, unsigned *count)
{
    if (*count > 0)
        rope_turn(&service->line.index.line, *count);
    *count = 0;
}

RARELY static void serve_copies(struct service *service, uint64_t now_ns, struct actions *actions)
{
    if (service->assigned != service->lease.assigned_at_look)
        service->lease.due_ns = 0;
    service->lease.assigned_at_look = service->assigned;
    unsigned passed = 0;
    for (unsigned left = service->line.count; left > 0 && service->lease.due_ns <= now_ns; left--) {
        const unsigned before = before_free(service, passed);
        passed += before < left ? before : left;
        if (before >= left)
            break;
        left -= before;
        const unsigned w = rope_at(&service->line.index.line, passed);
        if (has_slot(service, w))
            assign_copy(service, w, now_ns, actions);
        if (service->workers[w].asks > 0) {
            passed++;
        } else {
            service_leave_queue(service, w);
            service_index_note_stale(service, w);
        }
        if (service->has_speeds)
            move_to_end(service, &passed);
    }
    move_to_end(service, &passed);
    if (service->lease.due_ns <= now_ns)
        service->lease.due_ns = now_ns + LEASE_LOOK_NS;
}

RARELY static void serve_leftovers(struct service *service, uint64_t now_ns, struct actions *actions)
{
    uint64_t assigned = service->assigned;
    if (!service_index_begin(service)) {
        service->lease.due_ns = now_ns + LEASE_LOOK_NS;
        return;
    }
    if (service_recalls(service)) {
        service_give_up_late_recalls(service, now_ns, actions);
        service_release_copies(service, now_ns);
        if (service->recall.count > 0)
            /* Workers are served again at once, but in a later step, because the ASSIGNs of this step still use `more`.
             */
            service->elsewhere_due_ns = now_ns;
        service_recall(service, now_ns, actions);
    }
    if (!service->recall.awaits_stolen)
        serve_copies(service, now_ns, actions);
    else
        service->lease.due_ns = now_ns;
    service->recall.awaits_stolen = false;
    if (service_recalls(service) && service->recall.copies_due_ns < service->elsewhere_due_ns)
        service->elsewhere_due_ns = service->recall.copies_due_ns;
    send_answers(service, actions);
    service_verify_look(service, now_ns);
    if (service->assigned != assigned && service_recalls(service))
        service_recall(service, now_ns, actions); /* part of a new copy may be recalled as well */
}

RARELY static void explain_wait(const struct service *service, const struct event *event)
{
    unsigned w = event->type == EVENT_MESSAGE && event->message->type == MESSAGE_REQUEST
                     ? service_find(service, event->from)
                     : service->worker_count;
    if (w < service->worker_count && service->workers[w].asks > 0)
        reason_note(service->reasons, "rank %u waits: %s", event->from,
                    service->requeued.count > 0       ? "what was returned is for another, or for later"
                    : service->source != SOURCE_FLOWS ? "nothing is free"
                                                      : "the pool is empty");
}

/* Is there work only for idle workers? This is so if all remaining work is reserved for idle workers, or if some
 * workers have not had their first chunk. */
static bool is_for_free_ones(const struct service *service)
{
    if (service->count.beginners > 0 && service_recalls(service))
        return true;
    if (service->source == SOURCE_FLOWS || service->pool.count + service->verify.queued > 0 || service->reasons != NULL)
        return false;
    return service->requeued.count + service->recall.count > 0 &&
           (service->requeued.count == 0 || service->requeued.is_deadly) &&
           (service->recall.count == 0 || service_idle(service) > 0);
}

/* Workers of the queue that this call has passed over because they could get nothing. */
struct passed_over {
    unsigned count;
    /* number of these workers that are still at the front of the index's queue; they are moved later, all at once,
     * because this changes the tree less often */
    unsigned in_front;
};

/* Passes over the next worker, because it got nothing. If only an idle worker can get something, also passes over all
 * workers before the first idle one. */
RARELY static void pass_over(struct service *service, struct passed_over *passed)
{
    passed->count++;
    if (service->line.index.is_on) {
        passed->in_front++;
    } else {
        end_turn(service);
        if (service->line.passed_over++ < service->worker_count || !service_index_begin(service))
            return;
        service->line.passed_over = 0;
    }
    if (!is_for_free_ones(service))
        return;
    service_index_update(service);
    const unsigned left = service->line.count - passed->count;
    const unsigned before = rope_before_able(&service->line.index.line, passed->in_front);
    const unsigned more = before < left ? before : left;
    passed->count += more;
    passed->in_front += more;
}

RARELY static void count_plenty(struct service *service)
{
    if (service->source != SOURCE_FLOWS)
        service->line.index.steps_of_plenty = 0;
    else if (service->line.index.steps_of_plenty++ > service->worker_count)
        service_index_end(service);
}

/* Returns true if the other waiting workers cannot get work either. Sets `*has_nothing` to true if there is no requeued
 * and no recalled work. */
RARELY static bool is_out_of_work(const struct service *service, const struct event *event, bool *has_nothing)
{
    if (service->state == SERVICE_ENDING)
        return true;
    if (service->reasons != NULL)
        explain_wait(service, event);
    *has_nothing = service->requeued.count + service->recall.count == 0;
    return *has_nothing && service->verify.queued == 0;
}

void service_serve(struct service *service, uint64_t now_ns, struct actions *actions)
{
    bool has_nothing = false;
    struct passed_over passed = {0};
    while (service->line.count > passed.count && service->state != SERVICE_ENDING) {
        const unsigned w = first_waiting(service, passed.in_front);
        const bool has_room = has_slot(service, w);
        if (has_room && assign_next(service, w, now_ns, actions)) {
            move_to_end(service, &passed.in_front);
            passed.count = 0;
            end_turn(service);
            continue;
        }
        if (has_room && is_out_of_work(service, actions->event, &has_nothing))
            break;
        pass_over(service, &passed);
    }
    move_to_end(service, &passed.in_front);
    send_answers(service, actions);
    if (has_nothing && service->source != SOURCE_FLOWS)
        serve_leftovers(service, now_ns, actions);
    if (__builtin_expect(service->line.index.is_on, 0))
        count_plenty(service);
}

void service_put_aside(struct service *service, unsigned w, uint64_t now_ns, struct actions *actions)
{
    struct served *worker = &service->workers[w];
    if (!worker->present || worker->gone || worker->is_aside || service->state == SERVICE_ENDING)
        return;
    const unsigned asks = worker->asks;
    service_leave_queue(service, w);
    service_note_change(service, w);
    worker->asks = asks;
    service->line.asks += asks;
    worker->is_aside = true;
    service->count.aside++;
    service->count.beginners -= worker->chunks_assigned == 0;
    if (service->verify.held > 0)
        /* the worker that is put aside may have been the last one that could compute some verification */
        service->verify.close_due_ns = now_ns;
    service_stop_loser(service, w, actions);
}

void service_take_back(struct service *service, unsigned w)
{
    struct served *worker = &service->workers[w];
    if (!worker->is_aside || worker->gone || service->state == SERVICE_ENDING)
        return;
    worker->is_aside = false;
    service->count.aside--;
    service->count.beginners += worker->chunks_assigned == 0;
    if (worker->asks > 0)
        service_enqueue(service, w);
}

unsigned service_idle_aside(const struct service *service)
{
    unsigned idle = 0;
    for (unsigned w = 0; w < service->worker_count; w++)
        idle += service->workers[w].is_aside && !service->workers[w].gone && service->workers[w].holds == 0;
    return idle;
}

void service_stored(struct service *service, const struct event *event, struct actions *actions)
{
    const struct part *part = &event->part;
    if (part_is_unwanted(part))
        return;
    assert(service->parts_on_way > 0 && "what is stored was on its way");
    service->parts_on_way--;
    service->traced_ns = event->now_ns;
    service_note_change(service, part->worker);
    if (event->lost && !service->dependent)
        service_note_part(service, CHUNK_LOST, part->worker, part->chunk, part->first, part->count);
    if (event->lost && !service_is_third(service, part))
        service_requeue(service, &(struct range){part->first, part->count}, event->now_ns);
    else if (event->lost)
        ; /* another worker is computing the whole part, so this worker's results are not needed */
    else if (event->text == NULL)
        commit(service, part);
    else
        service_note_part(service, CHUNK_DROPPED, part->worker, part->chunk, part->first, part->count);
    if (!event->lost)
        service_serve(service, event->now_ns, actions);
}

void service_close(struct service *service, const struct actions *actions)
{
    service_index_end(service);
    service_move(service, SERVICE_ENDING, actions);
    service->line.count = service->line.asks = 0;
    service_verify_end(service);
}

void service_end(struct service *service, const struct end *end, uint64_t now_ns, struct actions *actions)
{
    if (service->state != SERVICE_ENDING) {
        send_answers(service, actions);
        service_close(service, actions);
    }
    service->leaving.is_late = end->late && !end->drain;
    service->leaving.gone_at_look = service->count.gone;
    service->leaving.due_ns = service_leave_due_ns(service, end, now_ns);
    for (unsigned w = 0; service->count.present > 0 && w < service->worker_count; w++)
        if (service->workers[w].present && !service->workers[w].gone)
            actions_send(actions, service->ranks[w], &(struct message){.type = MESSAGE_END, .end = *end});
}

bool service_is_quiet(const struct service *service)
{
    return service->count.busy == 0 && service->parts_on_way == 0;
}

bool service_is_over(const struct service *service)
{
    return service->state == SERVICE_ENDING && service->count.gone == service->count.present &&
           service->parts_on_way == 0;
}

void service_stats(const struct service *service, unsigned w, struct stats_record *record)
{
    const struct served *worker = &service->workers[w];
    bool worked = worker->chunks > 0;
    *record = (struct stats_record){
        .worker = service->ranks[w],
        .iterations = worker->iterations,
        .chunks = worker->chunks,
        .compute_ns = worker->compute_ns,
        .wait_ns = worker->wait_ns,
        .finish_ns = worked ? worker->last_done_ns - service->first_assign_ns : 0,
        .bytes = worker->bytes,
    };
}

bool service_running(const struct service *service, unsigned w, struct range *chunk, uint64_t *left, uint64_t *since_ns)
{
    struct served *worker = &service->workers[w];
    const struct grant *grant = worker->holds > 0 ? service_running_grant(worker) : NULL;
    if (grant == NULL)
        return false;
    *chunk = (struct range){grant->first, grant->count};
    *left = grant->count - grant->received;
    *since_ns = grant->since_ns > worker->last_done_ns ? grant->since_ns : worker->last_done_ns;
    return true;
}
