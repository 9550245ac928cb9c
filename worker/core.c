/* SPDX-License-Identifier: MIT */
/* The worker's step function.
 *
 * Invariants: all events of the executor are about the one running chunk, even if the executor has begun later chunks
 * (config.ahead). A worker in ASKING has requested a chunk, has no chunk in its queue, and has sent its completions
 * with the request. Completions of short chunks are held back and sent together, but not while the worker has nothing
 * to compute. */
#include "worker/core.h"

#include "common/config/run_spec.h"
#include "common/machine/state.h"
#include "common/util/error.h"
#include "proto/record.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Several echoes, because the first one may take longer: it also sets up the connection and wakes the master. */
#define ECHOES 3
/* Completions are held back for no longer than this, because the next chunk may take longer than expected. */
#define HOLD_MAX_NS 1000000u

static const char *const worker_state_names[] = {"STARTING", "PROBING", "ASKING", "COMPUTING",
                                                 "STUCK",    "LEAVING", "GONE"};

#define TO(state) (1u << WORKER_##state)
static const unsigned worker_moves[] = {
    [WORKER_STARTING] = TO(PROBING) | TO(ASKING) | TO(STUCK) | TO(LEAVING),
    [WORKER_PROBING] = TO(ASKING) | TO(STUCK) | TO(LEAVING),
    [WORKER_ASKING] = TO(COMPUTING) | TO(STUCK) | TO(GONE),
    [WORKER_COMPUTING] = TO(ASKING) | TO(COMPUTING) | TO(STUCK) | TO(LEAVING) | TO(GONE),
    [WORKER_STUCK] = TO(GONE),
    [WORKER_LEAVING] = TO(GONE),
    [WORKER_GONE] = 0,
};
static const struct state_table worker_states = {"worker", WORKER_GONE + 1, worker_state_names, worker_moves,
                                                 event_write_name};

static void worker_move(struct worker *worker, enum worker_state state, const struct actions *actions)
{
    state_move(&worker_states, &worker->state, state, actions->event);
}

void worker_init(struct worker *worker, const struct worker_config *config)
{
    *worker = (struct worker){
        .config = *config,
        .state = WORKER_STARTING,
        .behind_probe = WORKER_ASKING,
        .asked_at_ns = NEVER,
        .round_trip_ns = 20000,
        .least_echo_ns = NEVER,
        .load = config->load,
    };
    if (config->threads != NULL)
        worker->config.ahead = WORKER_QUEUE_MAX;
    assert((config->boundaries == NULL || worker->config.ahead == 0) && "a chunk needs the boundary data before it");
    if (config->boundaries != NULL)
        *config->boundaries = (struct boundaries){0};
}

void worker_refuse(const struct worker *worker, unsigned from, const char *text, struct actions *actions)
{
    REASON(worker->reasons, "does without rank %u: it %s", from, text);
    error_set(&actions->room.refusal, "%s", text);
    actions_drop(actions, from, actions->room.refusal.text);
}

static enum payload payload_kind(const struct chunk_event *chunk)
{
    if (chunk->data == NULL)
        return PAYLOAD_NONE;
    return chunk->bytes <= INLINE_MAX ? PAYLOAD_INLINE : PAYLOAD_DATA;
}

static void request(struct worker *worker, unsigned asks, const struct chunk_event *chunk, uint64_t now_ns,
                    struct actions *actions)
{
    struct message message = {.type = MESSAGE_REQUEST, .records = actions->room.completions};
    if (worker->done_count > 0) {
        message.record_count = worker->done_count - 1;
        message.request = worker->done[message.record_count];
    }
    for (unsigned i = 0; i < message.record_count; i++)
        completion_put(actions->room.completions, i, &worker->done[i]);
    if (chunk != NULL) {
        message.payload = payload_kind(chunk);
        message.payload_data = chunk->data;
        message.payload_bytes = chunk->bytes;
        message.has_failed = chunk->has_failed;
    }
    message.request.asks = asks;
    message.request.load = worker->load;
    worker->done_count = 0;
    worker_send_up(worker, actions, &message);
    worker_note_asks(worker, asks, now_ns);
}

static void worker_flush(struct worker *worker, uint64_t now_ns, struct actions *actions)
{
    if (worker->done_count > 0)
        request(worker, 0, NULL, now_ns, actions);
}

static bool stands_idle(const struct worker *worker)
{
    return worker->state == WORKER_ASKING || worker->state == WORKER_STUCK;
}

static void worker_leave(struct worker *worker, uint64_t now_ns, struct actions *actions)
{
    uint64_t wait_ns = stands_idle(worker) ? now_ns - worker->idle_since_ns : 0;
    const struct threads *threads = worker->config.threads != NULL ? worker->config.threads : worker->config.alone;
    if (threads != NULL && (threads->count > 1 || threads->cores > 0))
        worker_send_up(worker, actions, &(struct message){.type = MESSAGE_THREADS, .threads = *threads});
    worker_send_up(
        worker, actions,
        &(struct message){
            .type = MESSAGE_GOODBYE,
            .goodbye = {.messages = actions->messages + 1, .bytes = actions->bytes + GOODBYE_BYTES, .wait_ns = wait_ns},
        });
    actions_add(actions, &(struct action){.type = ACTION_EXIT, .exit = {EXIT_STATUS_DONE}});
    worker_move(worker, WORKER_GONE, actions);
}

static void worker_begin(struct worker *worker, uint64_t now_ns, struct actions *actions)
{
    worker_move(worker, worker->behind_probe, actions);
    worker->idle_since_ns = now_ns;
    if (worker->state == WORKER_LEAVING) {
        REASON(worker->reasons, "leaves: END came while it measured");
        worker_leave(worker, now_ns, actions);
    } else if (worker->state == WORKER_ASKING)
        request(worker, 1, NULL, now_ns, actions);
}

static void send_echo(struct worker *worker, uint64_t now_ns, struct actions *actions)
{
    worker_send_up(worker, actions, &(struct message){.type = MESSAGE_ECHO, .echo = {++worker->echoes}});
    worker->echo_sent_ns = now_ns;
}

static void look_ahead(struct worker *worker, uint64_t done, uint64_t now_ns, struct actions *actions)
{
    unsigned wants = worker_wants(worker, done);
    if (wants > 0)
        request(worker, wants, NULL, now_ns, actions);
}

static void worker_begin_chunk(const struct assigned *chunk, uint64_t mark, struct actions *actions)
{
    actions_add(actions, &(struct action){
                             .type = ACTION_RUN,
                             .run = {chunk->chunk, chunk->first, chunk->count, mark, chunk->isolated},
                         });
}

static void drop_queue(struct worker *worker, struct actions *actions)
{
    if (worker->queue_begun > 0)
        actions_add(actions, &(struct action){.type = ACTION_FORGET});
    worker->queue_count = worker->queue_begun = 0;
    worker->queue_iterations = 0;
    worker->asked = worker->asked_before = 0;
    worker->asked_at_ns = NEVER;
}

static void begin_ahead(struct worker *worker, struct actions *actions)
{
    while (worker->queue_begun < worker->queue_count && worker->queue_begun < worker->config.ahead)
        worker_begin_chunk(&worker->queue[(worker->queue_first + worker->queue_begun++) % WORKER_QUEUE_MAX], 0,
                           actions);
}

/* Drops the queued chunks that have not begun, because a drain finishes only what has begun. With a helper, one queued
 * chunk may have begun. The worker keeps this chunk, and later asks the executor how many of its iterations have
 * begun. */
static void keep_begun(struct worker *worker, struct actions *actions)
{
    const unsigned begun = worker->config.threads == NULL ? worker->queue_begun : 0;
    assert(begun <= 1 && "a helper has one chunk ahead");
    if (begun == 0) {
        drop_queue(worker, actions);
        return;
    }
    worker->queue_count = begun;
    worker->queue_iterations = worker->queue[worker->queue_first].count;
    worker->asked = worker->asked_before = 0;
    worker->asked_at_ns = NEVER;
}

static bool take_next(struct worker *worker, uint64_t now_ns, struct actions *actions)
{
    const bool was_idle = worker->state == WORKER_ASKING, has_begun = worker->queue_begun > 0;
    assert(worker->queue_count > 0 && "a chunk waits");
    worker->running = worker->queue[worker->queue_first];
    worker->queue_first = (worker->queue_first + 1) % WORKER_QUEUE_MAX;
    worker->queue_count--;
    worker->queue_begun -= has_begun;
    worker->queue_iterations -= worker->running.count;
    worker->running_sent = worker->running_before = 0;
    worker->waited_ns = was_idle ? now_ns - worker->idle_since_ns : 0;
    worker->idle_since_ns = was_idle ? worker->idle_since_ns : NEVER;
    if (worker->state != WORKER_LEAVING)
        worker_move(worker, WORKER_COMPUTING, actions);
    return has_begun;
}

static void worker_run_chunk(struct worker *worker, bool has_begun, struct actions *actions)
{
    const struct assigned *running = &worker->running;
    uint64_t mark = running->isolated ? 0 : worker_next_mark(worker, 0);
    if (worker_is_dependent(worker))
        worker_begin_boundary(worker, actions);
    if (!has_begun)
        worker_begin_chunk(running, mark, actions);
    else if (mark > 0)
        actions_add(actions, &(struct action){.type = ACTION_MARK, .run = {.mark = mark}});
    begin_ahead(worker, actions);
}

static bool put_in_queue(struct worker *worker, uint64_t now_ns, const struct assigned *chunk, struct actions *actions)
{
    if (worker_is_dependent(worker) && worker_expect_chunk(worker, chunk) < 0) {
        worker_refuse(worker, worker->config.master, "assigned chunks that are not in order", actions);
        return false;
    }
    worker_learn_round_trip(worker, now_ns);
    worker->asked--;
    unsigned last = (worker->queue_first + worker->queue_count++) % WORKER_QUEUE_MAX;
    worker->queue[last] = *chunk;
    worker->queue_iterations += chunk->count;
    if (worker->config.in_steps && chunk->count > worker->largest)
        worker->largest = chunk->count;
    begin_ahead(worker, actions);
    return true;
}

/* Puts the assigned chunks into the queue. After that, requests more chunks only if no chunk is queued or requested:
 * otherwise the next completion carries the request. */
static void receive_assign(struct worker *worker, uint64_t now_ns, const struct message *message,
                           struct actions *actions)
{
    unsigned chunks = 1 + message->record_count;
    if (chunks > worker->asked || worker->queue_count + chunks > WORKER_QUEUE_MAX) {
        worker_refuse(worker, worker->config.master, "assigned chunks that were not asked for", actions);
        return;
    }
    struct assigned chunk = {message->assign.first, message->assign.count, message->assign.chunk,
                             message->assign.isolated};
    bool can_be = put_in_queue(worker, now_ns, &chunk, actions);
    for (unsigned i = 0; can_be && i < message->record_count; i++) {
        chunk.chunk = chunk_number_after(chunk.chunk);
        assign_record_get(message->records, i, &chunk.first, &chunk.count);
        can_be = put_in_queue(worker, now_ns, &chunk, actions);
    }
    if (!can_be)
        return;
    if (worker->state != WORKER_ASKING || worker->queue_count == 0)
        return;
    const bool has_begun = take_next(worker, now_ns, actions);
    if (worker->queue_count + worker->asked == 0)
        look_ahead(worker, 0, now_ns, actions);
    worker_run_chunk(worker, has_begun, actions);
}

static void worker_give_up(struct worker *worker, const char *why, uint64_t now_ns, struct actions *actions)
{
    const struct assigned *running = &worker->running;
    REASON(worker->reasons, "leaves in the middle of [%" PRIu64 ", %" PRIu64 "): %s", running->first,
           running->first + running->count, why);
    worker_flush(worker, now_ns, actions);
    worker_leave(worker, now_ns, actions);
}

static void give_rest_back(bool now, struct actions *actions)
{
    actions_add(actions, &(struct action){.type = ACTION_CUT, .cut = {RECALL_ALL, now}});
}

/* In a drain the worker finishes the iterations that have begun, or stops them if `end->now` is set. It returns the
 * rest of the running chunk, and leaves at the latest after --drain-time. If the END is no drain, the worker drops the
 * running chunk. In a loop with dependencies the worker drops the running chunk even in a drain: the chunks on which it
 * depends may never be finished. */
static void worker_receive_end(struct worker *worker, uint64_t now_ns, const struct end *end, struct actions *actions)
{
    bool goes_on = end->drain && !worker_is_dependent(worker);
    const char *unwanted = end->drain ? "the chunks that it depends on may never be over" : "it is not wanted any more";
    if (worker->state == WORKER_COMPUTING && goes_on && !end->now)
        keep_begun(worker, actions);
    else if (worker->state != WORKER_LEAVING || !goes_on || end->now)
        drop_queue(worker, actions);
    switch ((enum worker_state)worker->state) {
    case WORKER_STARTING:
    case WORKER_PROBING:
        worker->behind_probe = WORKER_LEAVING;
        if (end->now && worker->state == WORKER_PROBING)
            give_rest_back(true, actions);
        break;
    case WORKER_ASKING:
        REASON(worker->reasons, "leaves: END came, and it computes nothing");
        worker_leave(worker, now_ns, actions);
        break;
    case WORKER_STUCK: worker_give_up(worker, "it has told a problem, and END came", now_ns, actions); break;
    case WORKER_COMPUTING:
        if (!goes_on) {
            worker_give_up(worker, unwanted, now_ns, actions);
            break;
        }
        if (end->now)
            REASON(worker->reasons, "ends what runs of [%" PRIu64 ", %" PRIu64 "): it is not to be finished",
                   worker->running.first, worker->running.first + worker->running.count);
        else
            REASON(worker->reasons,
                   "finishes what has begun of [%" PRIu64 ", %" PRIu64 "): a drain leaves it %.3f s for that",
                   worker->running.first, worker->running.first + worker->running.count,
                   (double)worker->config.spec->drain_ns / 1e9);
        worker->give_up_ns = now_ns + worker->config.spec->drain_ns;
        worker_move(worker, WORKER_LEAVING, actions);
        give_rest_back(end->now, actions);
        break;
    case WORKER_LEAVING:
        if (!goes_on)
            worker_give_up(worker, unwanted, now_ns, actions);
        else if (end->now)
            give_rest_back(true, actions);
        break;
    case WORKER_GONE: break;
    }
}

static void worker_be_stuck(struct worker *worker, uint64_t now_ns, struct actions *actions)
{
    bool has_end =
        worker->state == WORKER_LEAVING || (worker->state <= WORKER_PROBING && worker->behind_probe == WORKER_LEAVING);
    if (worker->state == WORKER_STUCK)
        return;
    if (!stands_idle(worker))
        worker->idle_since_ns = now_ns;
    if (worker->state != WORKER_LEAVING)
        worker_move(worker, WORKER_STUCK, actions);
    if (has_end)
        worker_give_up(worker, "it has told a problem, and END came before", now_ns, actions);
}

static void worker_expire(struct worker *worker, uint64_t now_ns, struct actions *actions)
{
    if (worker->state == WORKER_LEAVING && worker->give_up_ns <= now_ns)
        worker_give_up(worker, "the time is over that a drain left it", now_ns, actions);
    else if (worker->done_count > 0) {
        REASON(worker->reasons, "tells of %u chunks: they wait for %.3f ms", worker->done_count, HOLD_MAX_NS / 1e6);
        worker_flush(worker, now_ns, actions);
    }
}

static void problem(struct worker *worker, const char *text, struct actions *actions)
{
    /* Joins the lines of the kernel's text into one. */
    error_set(&actions->room.problem, "%s", text);
    struct message message = fatal_message(worker->config.rank, actions->room.problem.text);
    worker_send_up(worker, actions, &message);
}

static void receive_echo(struct worker *worker, uint64_t now_ns, const struct echo *echo, struct actions *actions)
{
    if (worker->state == WORKER_STUCK)
        return;
    if (worker->state != WORKER_STARTING || echo->id != worker->echoes) {
        worker_refuse(worker, worker->config.master, "sent an echo of what it was not sent", actions);
        return;
    }
    uint64_t round_trip = now_ns - worker->echo_sent_ns;
    worker->least_echo_ns = round_trip < worker->least_echo_ns ? round_trip : worker->least_echo_ns;
    if (worker->behind_probe == WORKER_LEAVING)
        worker_begin(worker, now_ns, actions);
    else if (worker->echoes < ECHOES)
        send_echo(worker, now_ns, actions);
    else {
        worker_move(worker, WORKER_PROBING, actions);
        actions_add(actions, &(struct action){.type = ACTION_PROBE});
    }
}

static void probed(struct worker *worker, const struct event *event, struct actions *actions)
{
    if (worker->state != WORKER_PROBING)
        return;
    struct speed speed = *event->speed;
    speed.worker = worker->config.rank;
    speed.round_trip_ns = worker->least_echo_ns;
    struct message message = speed_message(&speed, actions->room.speed);
    worker_send_up(worker, actions, &message);
    worker_begin(worker, event->now_ns, actions);
}

static void send_slice(struct worker *worker, uint64_t now_ns, const struct chunk_event *chunk, struct actions *actions)
{
    worker_flush(worker, now_ns, actions);
    worker->running_sent += chunk->count;
    worker_send_up(worker, actions,
                   &(struct message){
                       .type = MESSAGE_RESULT,
                       .payload = payload_kind(chunk),
                       .payload_data = chunk->data,
                       .payload_bytes = chunk->bytes,
                       .has_failed = chunk->has_failed,
                       .result = {worker->running.chunk, chunk->count, chunk->digest},
                   });
}

static uint64_t waited_ns(const struct worker *worker, const struct chunk_event *chunk)
{
    bool known = chunk->began_ns > worker->idle_since_ns;
    return known ? chunk->began_ns - worker->idle_since_ns : worker->waited_ns;
}

static void note_done(struct worker *worker, uint64_t now_ns, const struct chunk_event *chunk, struct actions *actions)
{
    /* The running chunk has the number 0 in two cases: the lost master already had all of its results, or the rest of
     * the chunk was returned. */
    if (worker->running.chunk == 0)
        return;
    bool follows = worker->done_count == 0 ||
                   worker->running.chunk == chunk_number_after(worker->done[worker->done_count - 1].chunk);
    /* The chunks of one request must have consecutive numbers, but a recalled chunk leaves a gap in the numbers. */
    if (chunk->data != NULL || !follows)
        worker_flush(worker, now_ns, actions);
    if (worker->done_count == 0)
        worker->done_deadline_ns = now_ns + HOLD_MAX_NS;
    worker->done[worker->done_count++] = (struct request){
        .chunk = worker->running.chunk,
        .done = true,
        .compute_ns = chunk->compute_ns,
        .digest = chunk->digest,
        .wait_ns = waited_ns(worker, chunk),
        .deviation_ns = chunk->samples < 2 ? 0 : fminf((float)chunk->deviation_ns, FLT_MAX),
        .samples = chunk->samples < UINT16_MAX ? chunk->samples : UINT16_MAX,
    };
}

/* Reports failed iterations. Another worker may retry these iterations, except in a loop with dependencies: there this
 * worker retries them, because it has the boundary data. */
static void tell_failure(struct worker *worker, const struct event *event, struct actions *actions)
{
    const bool is_over = !worker_is_dependent(worker) || event->chunk.final;
    struct message message = {
        .type = MESSAGE_ITERATIONS_FAILED,
        .iterations_failed = {.id = worker->running.chunk,
                              .first = worker_is_dependent(worker) ? event->chunk.first
                                                                   : worker->running.first + worker->running_sent,
                              .count = event->chunk.count,
                              .final = event->chunk.final,
                              .died = event->chunk.died},
    };
    error_set(&actions->room.problem, "%s", event->text);
    size_t length = strlen(actions->room.problem.text);
    message.iterations_failed.text = actions->room.problem.text;
    message.iterations_failed.length = length < TEXT_MAX ? (unsigned)length : TEXT_MAX;
    REASON(worker->reasons, "[%" PRIu64 ", %" PRIu64 ") did not work: %s", message.iterations_failed.first,
           message.iterations_failed.first + message.iterations_failed.count,
           event->chunk.final ? "nobody is to try again"
           : is_over          ? "another may try"
                              : "it is tried again here");
    worker_flush(worker, event->now_ns, actions);
    if (is_over)
        worker->running_sent += event->chunk.count;
    worker_send_up(worker, actions, &message);
}

static void chunk_finished(struct worker *worker, uint64_t now_ns, const struct chunk_event *chunk,
                           struct actions *actions)
{
    note_done(worker, now_ns, chunk, actions);
    if (worker_is_dependent(worker))
        worker_end_boundary(worker, actions);
    if (worker->state == WORKER_LEAVING) {
        if (worker->done_count > 0)
            request(worker, 0, chunk, now_ns, actions);
        if (worker->queue_count > 0) {
            REASON(worker->reasons, "goes on with what has begun behind the chunk that is over");
            take_next(worker, now_ns, actions);
            return;
        }
        REASON(worker->reasons, "leaves: the chunk is over that a drain left it");
        worker_leave(worker, now_ns, actions);
        return;
    }
    worker_learn_iteration_time(worker, chunk->compute_ns, worker->running.count);
    bool next = worker->queue_count > 0, has_begun = false;
    if (next) {
        has_begun = take_next(worker, now_ns, actions);
        worker_came_in_time(worker);
    } else {
        worker_move(worker, WORKER_ASKING, actions);
        worker->idle_since_ns = now_ns;
    }
    unsigned asks = worker_wants(worker, next ? 0 : worker->running.count);
    if (!next || chunk->data != NULL || !worker_may_hold(worker, asks))
        request(worker, asks, chunk, now_ns, actions);
    else
        REASON(worker->reasons,
               "asks later, with %u completions: its chunks are short, and %u are here or on their way",
               worker->done_count, 1 + worker->queue_count + worker->asked);
    if (next)
        worker_run_chunk(worker, has_begun, actions);
}

static void reach_mark(struct worker *worker, const struct event *event, struct actions *actions)
{
    worker_learn_from_mark(worker, event->chunk.compute_ns, event->chunk.done);
    if (worker->state != WORKER_COMPUTING)
        return;
    look_ahead(worker, event->chunk.done, event->now_ns, actions);
    uint64_t mark = worker_next_mark(worker, event->chunk.done);
    if (mark > event->chunk.done)
        actions_add(actions, &(struct action){.type = ACTION_MARK, .run = {.mark = mark}});
}

static void run_dry(struct worker *worker, uint64_t now_ns, struct actions *actions)
{
    bool asks =
        worker->config.spec->ask_ahead == ASK_AHEAD_AUTO && worker->asked == 0 && worker->queue_count < ASKS_MAX - 1;
    if (worker->state != WORKER_COMPUTING || !asks)
        return;
    REASON(worker->reasons, "wants 1 more: threads have nothing to do");
    request(worker, 1, NULL, now_ns, actions);
}

/* Forgets a dead master. The supermaster gives this worker's queued chunks to other workers. The supermaster numbers
 * the chunks of each worker from 1, so the rest of the running chunk becomes chunk 1. */
static void forget_master(struct worker *worker, struct actions *actions)
{
    worker->config.master = worker->config.supermaster;
    drop_queue(worker, actions);
    worker->done_count = 0;
    worker->running_before = worker->running_sent;
    worker->running.chunk = worker->running_sent < worker->running.count ? 1 : 0;
}

static void adopt(const struct worker *worker, struct actions *actions)
{
    bool computes = worker->state == WORKER_COMPUTING || worker->state == WORKER_LEAVING;
    struct message message = {.type = MESSAGE_ADOPT};
    if (computes && worker->running.chunk != 0) {
        message.adopt.first = worker->running.first + worker->running_sent;
        message.adopt.count = worker->running.count - worker->running_sent;
    }
    REASON(worker->reasons, "turns to rank %u: its master was lost, and it has [%" PRIu64 ", %" PRIu64 ") to compute",
           worker->config.master, message.adopt.first, message.adopt.first + message.adopt.count);
    worker_send_up(worker, actions, &message);
}

/* After the loss of the master, the supermaster serves this worker. A worker that was told to end still reports what it
 * finishes. A loop with dependencies does not survive the loss of a master. So the worker of such a loop drops its
 * running chunk. */
static void worker_lose_master(struct worker *worker, uint64_t now_ns, struct actions *actions)
{
    if (worker->config.master == worker->config.supermaster)
        return;
    if (worker_is_dependent(worker) && worker->state == WORKER_COMPUTING)
        worker_be_stuck(worker, now_ns, actions);
    forget_master(worker, actions);
    adopt(worker, actions);
    if (worker->state == WORKER_ASKING)
        request(worker, 1, NULL, now_ns, actions);
    else if (worker->state == WORKER_STARTING)
        send_echo(worker, now_ns, actions);
}

static void worker_receive_neighbour(struct worker *worker, const struct neighbour *neighbour, struct actions *actions)
{
    if (worker_take_neighbour(worker, neighbour, actions) < 0)
        worker_refuse(worker, worker->config.master, "told of a neighbour that cannot be", actions);
}

static void receive_boundary(struct worker *worker, const struct event *event, struct actions *actions)
{
    if (worker_take_boundary(worker, event->from, event->message, actions) < 0)
        worker_refuse(worker, event->from, "sent boundary data that cannot be", actions);
}

static void receive_from_another(struct worker *worker, const struct event *event, struct actions *actions)
{
    if (event->message->type != MESSAGE_BOUNDARY)
        worker_refuse(worker, event->from, "sent a message to a worker that it does not serve", actions);
    else
        receive_boundary(worker, event, actions);
}

static void worker_receive(struct worker *worker, const struct event *event, struct actions *actions)
{
    if (event->from != worker->config.master) {
        receive_from_another(worker, event, actions);
        return;
    }
    switch (event->message->type) {
    case MESSAGE_ASSIGN: receive_assign(worker, event->now_ns, event->message, actions); break;
    case MESSAGE_END: worker_receive_end(worker, event->now_ns, &event->message->end, actions); break;
    case MESSAGE_ECHO: receive_echo(worker, event->now_ns, &event->message->echo, actions); break;
    case MESSAGE_NEIGHBOUR: worker_receive_neighbour(worker, &event->message->neighbour, actions); break;
    case MESSAGE_BOUNDARY: receive_boundary(worker, event, actions); break;
    case MESSAGE_RECALL: worker_receive_recall(worker, &event->message->recall, actions); break;
    default: worker_refuse(worker, event->from, "sent a message that a master does not send", actions);
    }
}

static bool is_of_chunk(const struct event *event)
{
    return event->type == EVENT_SLICE || event->type == EVENT_ITERATIONS_FAILED || event->type == EVENT_FINISHED;
}

void worker_step(struct worker *worker, const struct event *event, struct actions *actions)
{
    if (worker->state == WORKER_GONE || (worker->state == WORKER_STUCK && is_of_chunk(event)))
        return;
    actions->event = event;
    switch (event->type) {
    case EVENT_START:
        assert(worker->state == WORKER_STARTING && "START is the first event");
        if (worker->config.probe)
            send_echo(worker, event->now_ns, actions);
        else
            worker_begin(worker, event->now_ns, actions);
        break;
    case EVENT_PROBED: probed(worker, event, actions); break;
    case EVENT_MESSAGE: worker_receive(worker, event, actions); break;
    case EVENT_MARK: reach_mark(worker, event, actions); break;
    case EVENT_SLICE: send_slice(worker, event->now_ns, &event->chunk, actions); break;
    case EVENT_TIMER: worker_expire(worker, event->now_ns, actions); break;
    case EVENT_BOUNDARY_READY: worker_note_boundary_ready(worker, &event->ready, actions); break;
    case EVENT_CUT: worker_tell_cut(worker, &event->cut, actions); break;
    case EVENT_STOLEN: worker_note_stolen(worker, &event->stolen.range); break;
    case EVENT_DRY: run_dry(worker, event->now_ns, actions); break;
    case EVENT_LOAD: worker->load = event->load; break;
    case EVENT_ITERATIONS_FAILED: tell_failure(worker, event, actions); break;
    case EVENT_FINISHED: chunk_finished(worker, event->now_ns, &event->chunk, actions); break;
    case EVENT_RANK_LOST:
        if (event->from == worker->config.master)
            worker_lose_master(worker, event->now_ns, actions);
        break;
    case EVENT_DRAIN: worker_send_up(worker, actions, &(struct message){.type = MESSAGE_DRAIN}); break;
    case EVENT_FATAL:
        problem(worker, event->text, actions);
        worker_be_stuck(worker, event->now_ns, actions);
        break;
    default: break;
    }
}

const char *worker_state_name(const struct worker *worker)
{
    return worker_state_names[worker->state];
}

static void explain_any(void *self, const struct reason_sink *sink)
{
    struct worker *worker = self;
    worker->reasons = sink;
}

static void worker_step_any(void *self, const struct event *event, struct actions *actions)
{
    worker_step(self, event, actions);
#ifdef HDSS_CHECKS
    worker_check(self);
#endif
}

static uint64_t worker_deadline_any(const void *self)
{
    const struct worker *worker = self;
    uint64_t tell = worker->done_count > 0 ? worker->done_deadline_ns : NEVER;
    return worker->state == WORKER_LEAVING && worker->give_up_ns < tell ? worker->give_up_ns : tell;
}

static const char *worker_state_any(const void *self)
{
    return worker_state_name(self);
}

static void check_any(const void *self)
{
    worker_check(self);
}

struct machine worker_machine(struct worker *worker)
{
    return (struct machine){worker, worker_step_any, worker_deadline_any, worker_state_any, check_any, explain_any,
                            NULL};
}
