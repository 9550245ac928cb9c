/* SPDX-License-Identifier: MIT */
/* The virtual cluster: see cluster.h. Delivers events to the machines and carries out their actions. */
#include "deploy/simulate/virtual/cluster.h"
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/util/grow.h"
#include "common/util/random.h"
#include "deploy/simulate/virtual/heap.h"
#include "deploy/simulate/virtual/inside.h"
#include "deploy/simulate/virtual/machines.h"
#include "deploy/simulate/virtual/trace.h"
#include "proto/message.h"
#include "supermaster/supermaster.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_HOUR   3600000000000u
#define SEQUENCE_BITS 40

void cluster_print(struct virtual_cluster *cluster, unsigned rank, const char *sign, const char *text)
{
    const struct topology *topology = &cluster->topology;
    char line[400], who[32];
    if (rank == topology->supermaster)
        snprintf(who, sizeof who, "supermaster");
    else if (topology_master(topology, rank) < topology->masters)
        snprintf(who, sizeof who, "master %u", rank);
    else
        snprintf(who, sizeof who, "worker %u", rank);
    snprintf(line, sizeof line, "%12.3f %-12s %s %s", (double)cluster->now_ns / 1000, who, sign, text);
    cluster->config.trace(cluster->config.trace_context, line);
}

static void print_event(struct virtual_cluster *cluster, unsigned rank, const struct event *event)
{
    char text[300];
    if (cluster->config.trace == NULL)
        return;
    trace_event(event, text, sizeof text);
    cluster_print(cluster, rank, "<", text);
}

static void print_step(struct virtual_cluster *cluster, unsigned rank, const char *before)
{
    const struct node *node = &cluster->nodes[rank];
    char text[300];
    if (cluster->config.trace == NULL)
        return;
    const char *after = node->machine.state(node->machine.self);
    if (before != after) {
        snprintf(text, sizeof text, "%s -> %s", before, after);
        cluster_print(cluster, rank, "=", text);
    }
    for (size_t i = 0; i < cluster->step.actions.length; i++) {
        trace_action(&cluster->step.actions.items[i], text, sizeof text);
        cluster_print(cluster, rank, ">", text);
    }
}

static void print_reason(void *context, const char *text)
{
    struct virtual_cluster *cluster = context;
    cluster_in_machine(cluster, false);
    cluster_print(cluster, cluster->step.rank, ":", text);
    cluster_in_machine(cluster, true);
}

/* Returns a number that orders simultaneous events. A seed shuffles events, but messages of one sender keep their
 * order, and so do the other events of one rank. */
static uint64_t cluster_order(struct virtual_cluster *cluster, const struct future *future)
{
    const uint64_t sequence = cluster->heap.sequence++, seed = cluster->config.order_seed;
    if (seed == 0)
        return sequence;
    bool is_message = future->type == EVENT_MESSAGE && !future->wake && !future->fenced && future->fault == NULL;
    uint64_t drawn =
        is_message ? random_at(random_at(seed, future->at_ns), future->from) : random_at(seed, future->rank);
    return drawn << SEQUENCE_BITS | (sequence & ((UINT64_C(1) << SEQUENCE_BITS) - 1));
}

void cluster_schedule(struct virtual_cluster *cluster, const struct future *future)
{
    assert(future->at_ns >= cluster->now_ns && "nothing is scheduled for the past");
    struct future *copy = heap_new(&cluster->heap);
    if (copy != NULL)
        *copy = *future;
    if (copy == NULL || heap_push_ordered(&cluster->heap, copy, cluster_order(cluster, copy)) < 0)
        cluster->out_of_memory = true;
}

void *cluster_copy(struct virtual_cluster *cluster, const void *bytes, size_t size)
{
    void *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        cluster->out_of_memory = true;
    else
        memcpy(copy, bytes, size);
    return copy;
}

static uint64_t cluster_transfer_ns(const struct virtual_cluster *cluster, unsigned from, unsigned to, uint64_t bytes)
{
    const struct virtual_config *config = &cluster->config;
    unsigned from_node = cluster->nodes[from].node, to_node = cluster->nodes[to].node;
    if (config->transfer_ns != NULL)
        return config->transfer_ns(config->context, from_node, to_node, bytes);
    bool near = from_node == to_node;
    uint64_t latency = near || config->remote_latency_ns == 0 ? config->latency_ns : config->remote_latency_ns;
    return latency + (config->bytes_per_ns > 0 ? (uint64_t)((double)bytes / config->bytes_per_ns) : 0);
}

/* Returns the change of latency that the seed causes. The latency becomes up to half longer or shorter, so that
 * messages that cross may arrive in any order. A negative change is returned modulo 2^64. */
static uint64_t cluster_shuffled_ns(const struct virtual_cluster *cluster, unsigned from, unsigned to)
{
    const uint64_t seed = cluster->config.order_seed;
    if (seed == 0)
        return 0;
    uint64_t latency_ns = cluster_transfer_ns(cluster, from, to, 0);
    return random_at(seed + 1, cluster->sends) % (latency_ns + 1) - latency_ns / 2;
}

uint64_t cluster_so_far_ns(const struct virtual_cluster *cluster, unsigned rank)
{
    const struct virtual_config *config = &cluster->config;
    if (config->message_ns <= 0)
        return 0;
    return (uint64_t)(((double)config->service_ns + cluster->step.cutting_ns + cluster->step.sending_ns) *
                      cluster->nodes[rank].service_factor);
}

static double cutting_ns(const struct virtual_config *config, unsigned calculations, unsigned assignments)
{
    return (double)(calculations * (config->calculation_ns + config->spec.calculation_ns) +
                    assignments * config->spec.assignment_ns);
}

static bool cluster_steal(struct virtual_cluster *cluster, unsigned from, unsigned to, unsigned waiting, bool is_answer)
{
    struct virtual_step *step = &cluster->step;
    struct theft theft = {.rank = to};
    const bool is_seen = cluster->nodes[from].node == cluster->nodes[to].node &&
                         cluster->workers[cluster->nodes[to].worker].config.master == from &&
                         work_steal(cluster, to, waiting, &theft.stolen);
    if (!is_seen && is_answer)
        return false;
    theft.stolen.is_answer = is_answer && theft.stolen.range.count > 0;
    struct theft *thefts = grow(step->thefts, step->theft_count, &step->theft_room, sizeof *thefts);
    cluster->out_of_memory |= thefts == NULL;
    if (thefts != NULL) {
        step->thefts = thefts;
        thefts[step->theft_count++] = theft;
    }
    return theft.stolen.range.count > 0;
}

void cluster_send_message(struct virtual_cluster *cluster, unsigned from, const struct action *action)
{
    const unsigned to = action->send.to;
    const struct message *message = &action->send.message;
    const struct virtual_config *config = &cluster->config;
    struct node *node = &cluster->nodes[from];
    if (node->sync_failed) {
        node->sync_failed = false;
        return;
    }
    if (++cluster->sends == config->failing_send) {
        cluster->result.failed_sends++;
        faults_kill_all(cluster);
        return;
    }
    if (faults_has_dropped(cluster, from, to))
        return;
    if (message->type == MESSAGE_RECALL && message->recall.waiting != RECALL_ALL &&
        cluster_steal(cluster, from, to, message->recall.waiting, true))
        return;
    unsigned char bytes[MESSAGE_MAX];
    size_t size = message_encode(message, FIRST_JOB, bytes);
    bool sends_garbage = node->sends_garbage;
    if (sends_garbage)
        size = faults_send_garbage(cluster, from, to, bytes, size);
    cluster->step.cutting_ns = cutting_ns(config, action->send.calculations, action->send.assignments);
    cluster->step.sending_ns += config->message_ns + config->byte_ns * (double)size;
    uint64_t delay_ns = cluster_so_far_ns(cluster, from) + cluster_shuffled_ns(cluster, from, to) +
                        cluster_transfer_ns(cluster, from, to, size + message->payload_bytes);
    struct future future = {
        .at_ns = faults_arrival(cluster, from, to, delay_ns),
        .rank = to,
        .type = EVENT_MESSAGE,
        .from = from,
        .size = size,
    };
    if (message->type == MESSAGE_BOUNDARY)
        cluster->result.handed_over += message->payload_bytes;
    if (size <= FUTURE_SMALL)
        memcpy(future.small, bytes, size);
    else
        future.bytes = cluster_copy(cluster, bytes, size);
    bool is_there = config->phantom_bytes == 0 || message->type == MESSAGE_BOUNDARY;
    if (message->payload == PAYLOAD_DATA && !sends_garbage && is_there)
        future.data = cluster_copy(cluster, message->payload_data, message->payload_bytes);
    cluster_schedule(cluster, &future);
}

void cluster_in_machine(const struct virtual_cluster *cluster, bool inside)
{
    if (cluster->config.in_machine != NULL)
        cluster->config.in_machine(inside);
}

void cluster_wake(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    node->wakes++;
    uint64_t at_ns = cluster->ranks != NULL ? ranks_busy_until(cluster, rank) : node->busy_until_ns;
    at_ns = at_ns > cluster->now_ns ? at_ns : cluster->now_ns;
    cluster_schedule(cluster, &(struct future){.at_ns = at_ns, .rank = rank, .wake = true});
}

static void cluster_apply(struct virtual_cluster *cluster, unsigned rank, const struct action *action, const void *data)
{
    struct node *node = &cluster->nodes[rank];
    store_check_synced(cluster, node, action);
    node->synced = false;
    switch (action->type) {
    case ACTION_SEND: cluster_send_message(cluster, rank, action); break;
    case ACTION_PROBE: work_probe(cluster, rank); break;
    case ACTION_RUN: work_begin(cluster, rank, action, cluster_so_far_ns(cluster, rank)); break;
    case ACTION_MARK: work_mark(cluster, rank, action->run.mark); break;
    case ACTION_CUT:
        cluster->step.cut = action->cut.now ? work_end(cluster, rank) : work_cut(cluster, rank, action->cut.waiting);
        cluster->step.has_cut = true;
        break;
    case ACTION_STEAL: cluster_steal(cluster, rank, action->steal.to, action->steal.waiting, false); break;
    case ACTION_GROW: cluster->step.has_grown = true; break;
    case ACTION_FORGET:
        node->next.run.count = 0;
        if (node->team != NULL)
            threads_forget(cluster, rank);
        break;
    case ACTION_STORE: store_part(cluster, rank, action, action->store.data); break;
    case ACTION_COLLECT: store_part(cluster, rank, action, data); break;
    case ACTION_JOURNAL: store_journal(cluster, rank, action); break;
    case ACTION_DEATHS: store_deaths(cluster, rank, action); break;
    case ACTION_POINT: store_point(cluster, rank, action); break;
    case ACTION_SYNC: store_sync(cluster, rank); break;
    case ACTION_BOUNDARY: dependent_fill(cluster, rank, action, data); break;
    case ACTION_REUSE: dependent_reuse(cluster, rank, action->boundary_at); break;
    case ACTION_RELEASE: dependent_release(cluster, rank, action->boundary_at); break;
    case ACTION_TAKEN: break;
    case ACTION_DROP: faults_drop(cluster, rank, action->drop.rank, action->drop.text); break;
    case ACTION_EXIT:
        cluster_leave(cluster, rank);
        if (rank == 0)
            cluster->result.status = action->exit.status;
        if (faults_any(cluster))
            faults_tell_of_end(cluster, rank, NEVER);
        break;
    }
}

void cluster_leave(struct virtual_cluster *cluster, unsigned rank)
{
    cluster->nodes[rank].gone = true;
    cluster->left++;
    if (cluster->ranks != NULL)
        ranks_leave(cluster, rank);
}

static void schedule_timer(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    uint64_t deadline = node->machine.deadline(node->machine.self);
    if (deadline == node->deadline_ns)
        return;
    node->deadline_ns = deadline;
    node->timer_generation++;
    if (deadline != NEVER)
        cluster_schedule(cluster, &(struct future){
                                      .at_ns = deadline > cluster->now_ns ? deadline : cluster->now_ns,
                                      .rank = rank,
                                      .type = EVENT_TIMER,
                                      .generation = node->timer_generation,
                                  });
}

static uint64_t service_ns(const struct virtual_cluster *cluster, const struct node *node)
{
    const struct virtual_config *config = &cluster->config;
    double all_ns = cutting_ns(config, cluster->step.actions.calculations, cluster->step.actions.assignments);
    return (uint64_t)(((double)config->service_ns + all_ns + cluster->step.sending_ns) * node->service_factor);
}

static void serve_beside(struct virtual_cluster *cluster, unsigned rank, uint64_t busy_ns)
{
    struct node *node = &cluster->nodes[rank];
    if (node->gone)
        return;
    work_delay(cluster, rank, busy_ns);
    if (node->probe_ends_ns > node->busy_until_ns)
        node->busy_until_ns = node->probe_ends_ns;
}

static void cluster_lose_dropped(struct virtual_cluster *cluster, unsigned rank);

static void cluster_tell_cut(struct virtual_cluster *cluster, unsigned rank)
{
    const struct event event = {.type = EVENT_CUT, .now_ns = cluster->now_ns, .cut = cluster->step.cut};
    if (!cluster->step.has_cut)
        return;
    cluster->step.has_cut = false;
    if (!cluster->nodes[rank].gone)
        cluster_step(cluster, rank, &event, NULL);
}

__attribute__((noinline, cold)) static void cluster_tell_thefts(struct virtual_cluster *cluster, unsigned rank)
{
    struct virtual_step *step = &cluster->step;
    const struct node *node = &cluster->nodes[rank];
    if (step->thefts_told > 0)
        return;
    while (step->thefts_told < step->theft_count && !node->gone && !node->killed) {
        const struct theft *theft = &step->thefts[step->thefts_told++];
        const struct event event = {
            .type = EVENT_STOLEN, .now_ns = cluster->now_ns, .from = theft->rank, .stolen = theft->stolen};
        cluster_step(cluster, rank, &event, NULL);
    }
    step->theft_count = step->thefts_told = 0;
}

__attribute__((noinline, cold)) static bool cluster_tell_stolen(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    const struct event event = {.type = EVENT_STOLEN, .now_ns = cluster->now_ns, .stolen.range = node->stolen};
    node->stolen.count = 0;
    cluster_step(cluster, rank, &event, NULL);
    return !node->gone && !node->killed;
}

/* A separate function, because it is rarely called: the code of other steps stays small and fast. */
__attribute__((noinline, cold)) static void cluster_tell_growth(struct virtual_cluster *cluster, unsigned rank)
{
    struct event event = {.type = EVENT_GROWN, .now_ns = cluster->now_ns};
    cluster->step.has_grown = false;
    event.growth.count = virtual_grown(&cluster->config, cluster->now_ns, &event.growth.is_complete);
    if (!cluster->nodes[rank].gone)
        cluster_step(cluster, rank, &event, NULL);
}

void cluster_step(struct virtual_cluster *cluster, unsigned rank, const struct event *event, const void *data)
{
    struct node *node = &cluster->nodes[rank];
    const char *before = cluster->config.trace != NULL ? node->machine.state(node->machine.self) : NULL;
    struct actions *actions = &cluster->step.actions;
    assert(!node->gone && "nothing happens to who is gone");
    if (__builtin_expect(node->stolen.count > 0, 0) && !cluster_tell_stolen(cluster, rank))
        return;
    print_event(cluster, rank, event);
    actions_clear(actions);
    cluster->step.cutting_ns = cluster->step.sending_ns = 0;
    cluster->step.rank = rank;
    actions->messages = node->messages;
    actions->bytes = node->bytes;
    cluster_in_machine(cluster, true);
    node->machine.step(node->machine.self, event, actions);
    cluster_in_machine(cluster, false);
    if (!cluster->config.unchecked)
        node->machine.check(node->machine.self);
    node->messages = actions->messages;
    node->bytes = actions->bytes;
    print_step(cluster, rank, before);
    node->handled++;
    for (size_t i = 0, most = faults_limit(cluster, rank, actions->length); i < most && !node->killed; i++)
        cluster_apply(cluster, rank, &actions->items[i], data);
    faults_after_event(cluster, rank);
    schedule_timer(cluster, rank);
    uint64_t busy_ns = service_ns(cluster, node);
    node->busy_until_ns = cluster->now_ns + busy_ns;
    if (node->computing != NULL)
        serve_beside(cluster, rank, busy_ns);
    if (cluster->ranks != NULL)
        ranks_note_busy(cluster, rank);
    if (cluster->supermaster.cut.first_ns != NEVER && cluster->now_ns >= cluster->supermaster.cut.first_ns)
        node->busy_ns += busy_ns;
    cluster->out_of_memory |= actions->out_of_memory;
    cluster->result.events++;
    cluster_tell_cut(cluster, rank);
    if (__builtin_expect(cluster->step.theft_count > 0, 0))
        cluster_tell_thefts(cluster, rank);
    if (cluster->step.has_grown)
        cluster_tell_growth(cluster, rank);
    cluster_lose_dropped(cluster, rank);
}

static void cluster_lose_dropped(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    struct event event = {.type = EVENT_RANK_LOST, .now_ns = cluster->now_ns, .from = node->dropped};
    if (node->dropped == NO_RANK || node->gone)
        return;
    node->dropped = NO_RANK;
    cluster_step(cluster, rank, &event, NULL);
}

static void deliver_message(struct virtual_cluster *cluster, const struct future *future, struct event *event)
{
    struct message message;
    if (faults_has_dropped(cluster, future->rank, future->from))
        return;
    if (message_decode(&message, future_bytes(future), future->size) != DECODE_OK) {
        assert(cluster->result.sent_garbage > 0 && "machines send what the protocol allows");
        faults_drop(cluster, future->rank, future->from, "sent a message that is not of the protocol");
        cluster_lose_dropped(cluster, future->rank);
        return;
    }
    if (cluster->config.sends_results && store_look_at_message(cluster, future->from, &message, future->data))
        return;
    event->message = &message;
    cluster_step(cluster, future->rank, event, future->data);
}

const unsigned char cluster_phantom_bytes[INLINE_MAX];

static uint64_t digest_of_rank(const struct virtual_cluster *cluster, unsigned rank, uint64_t iteration,
                               unsigned char *results, uint64_t place)
{
    const struct virtual_config *config = &cluster->config;
    const uint64_t record = ~virtual_record(iteration);
    if (config->lies == NULL || !config->lies(config->context, rank, iteration))
        return store_digest(iteration);
    if (results != NULL)
        memcpy(results + place * sizeof record, &record, sizeof record);
    return store_digest_of(iteration, record);
}

unsigned char *cluster_fill_results(struct virtual_cluster *cluster, unsigned rank, uint64_t first, uint64_t count,
                                    struct event *event)
{
    uint64_t bytes;
    unsigned char *results = NULL;
    if (cluster->config.collect && (results = store_make(cluster, first, count, &bytes)) == NULL) {
        cluster->out_of_memory = true;
        return NULL;
    }
    event->chunk.count = count;
    event->chunk.has_failed = cluster->config.variable && cluster->config.outcome != NULL && count > 0 &&
                              cluster->config.outcome(cluster->config.context, rank, first) == VIRTUAL_IS_CALLED_FAILED;
    for (uint64_t i = 0; i < count && !cluster->config.undigested; i++)
        event->chunk.digest += digest_of_rank(cluster, rank, first + i, results, i);
    if (results != NULL && count > 0) {
        event->chunk.data = results;
        event->chunk.bytes = bytes;
    }
    if (cluster->config.phantom_bytes > 0 && count > 0) {
        event->chunk.data = cluster_phantom_bytes;
        event->chunk.bytes = count * cluster->config.phantom_bytes;
    }
    cluster->result.executed += count;
    return results;
}

static void deliver_results(struct virtual_cluster *cluster, const struct future *future, uint64_t done,
                            struct event *event)
{
    struct running *running = &cluster->nodes[future->rank].running;
    if (done <= running->sliced && event->type == EVENT_SLICE)
        return;
    unsigned char *results =
        cluster_fill_results(cluster, future->rank, running->first + running->sliced, done - running->sliced, event);
    if (cluster->out_of_memory)
        return;
    if (future->type == EVENT_FINISHED && run_spec_learns(&cluster->config.spec))
        work_time_pieces(cluster, &cluster->nodes[future->rank], &event->chunk);
    running->sliced = done;
    if (future->type == EVENT_FINISHED)
        work_take_next(cluster, future->rank);
    cluster_step(cluster, future->rank, event, NULL);
    free(results);
}

/* Delivers the results of the iterations before iteration future->done - 1, and then handles the failure of that
 * iteration. If a helper died, the chunk continues in another helper. If the child process of an isolated chunk died,
 * the chunk ends. */
static void deliver_failure(struct virtual_cluster *cluster, const struct future *future, struct event *event)
{
    const struct virtual_config *config = &cluster->config;
    struct node *node = &cluster->nodes[future->rank];
    struct event slice = *event;
    const bool ends_worker = future->lost && !future->spares && !node->running.isolated;
    if (future->lost && config->ended != NULL)
        config->ended(config->context, future->rank, node->running.first + future->done - 1, ends_worker);
    if (ends_worker) {
        faults_kill(cluster, future->rank);
        return;
    }
    slice.type = EVENT_SLICE;
    slice.text = NULL;
    deliver_results(cluster, future, future->done - 1, &slice);
    if (node->gone)
        return;
    event->chunk.count = 1;
    event->chunk.died = future->lost;
    event->chunk.final = future->lost && !future->spares;
    node->running.sliced = future->done;
    cluster_step(cluster, future->rank, event, NULL);
}

static void deliver_chunk_event(struct virtual_cluster *cluster, const struct future *future, struct event *event)
{
    struct node *node = &cluster->nodes[future->rank];
    if (future->generation != node->running.generation || future->done > node->running.count)
        return;
    event->chunk.done = future->done;
    event->chunk.compute_ns = cluster->now_ns - node->running.started_ns;
    switch (future->type) {
    case EVENT_MARK:
        node->running.mark = 0;
        cluster_step(cluster, future->rank, event, NULL);
        break;
    case EVENT_ITERATIONS_FAILED: deliver_failure(cluster, future, event); break;
    case EVENT_SLICE: deliver_results(cluster, future, future->done, event); break;
    default:
        if (cluster->ranks != NULL && !cluster->parts[future->rank].share.ends)
            ranks_end_chunk(cluster, future->rank);
        deliver_results(cluster, future, future->done, event);
        if (cluster->ranks != NULL)
            ranks_compute(cluster, future->rank);
    }
}

static bool is_root_of(const struct virtual_cluster *cluster, unsigned rank, unsigned other)
{
    const struct topology *topology = &cluster->topology;
    const unsigned w = topology_worker(topology, rank);
    if (w < topology->workers && topology_is_in_pod(topology, w))
        return other == topology->master_rank[topology->master_of[w]];
    return other == topology->supermaster;
}

static bool join(struct virtual_cluster *cluster, uint64_t i)
{
    struct topology *topology = &cluster->topology;
    const unsigned first = topology->ranks;
    if (cluster->nodes[topology->supermaster].gone)
        return false;
    const int added = cluster_add_pod(cluster, &cluster->config.pods[i]);
    cluster->out_of_memory |= added < 0;
    if (added != 0)
        return false;
    for (unsigned rank = first; rank < topology->ranks; rank++)
        cluster_schedule(cluster, &(struct future){.at_ns = cluster->now_ns, .rank = rank, .type = EVENT_START});
    return true;
}

static void deliver(struct virtual_cluster *cluster, const struct future *future)
{
    struct node *node = &cluster->nodes[future->rank];
    struct event event = {.type = future->type, .now_ns = cluster->now_ns, .from = future->from, .text = future->text};
    if (future->fenced) {
        faults_kill(cluster, future->rank);
        return;
    }
    switch (future->type) {
    case EVENT_MESSAGE: deliver_message(cluster, future, &event); return;
    case EVENT_BOUNDARY_READY:
        if (future->generation == node->running.generation)
            dependent_end_step(cluster, future->rank, &event);
        return;
    case EVENT_MARK:
    case EVENT_SLICE:
    case EVENT_DRY:
    case EVENT_ITERATIONS_FAILED:
    case EVENT_FINISHED:
        if (node->team != NULL)
            threads_deliver(cluster, future, &event);
        else
            deliver_chunk_event(cluster, future, &event);
        return;
    case EVENT_TIMER:
        if (future->generation != node->timer_generation)
            return;
        node->deadline_ns = NEVER;
        break;
    case EVENT_STORED:
        event.part = future->part;
        event.lost = future->lost;
        if (future->data != NULL && !future->lost)
            event.text = store_take(cluster, future->rank, &future->part, future->data, future->size);
        break;
    case EVENT_RANK_LOST:
        if (faults_has_dropped(cluster, future->rank, future->from))
            return;
        if (!is_root_of(cluster, future->rank, future->from))
            break;
        cluster_leave(cluster, future->rank);
        return;
    case EVENT_JOINED:
        if (!join(cluster, future->done))
            return;
        break;
    case EVENT_DRAIN: event.now = future->now; break;
    case EVENT_LOAD: event.load = (uint16_t)future->done; break;
    case EVENT_PROBED: event.speed = future->data; break;
    default: break;
    }
    cluster_step(cluster, future->rank, &event, NULL);
}

static bool cluster_is_over(struct virtual_cluster *cluster)
{
    const unsigned ranks = cluster_ranks(&cluster->config);
    for (unsigned i = 0; i < ranks; i++)
        if (!cluster->nodes[i].gone && !cluster->nodes[i].stopped) {
            cluster->result.hung_rank = i;
            return false;
        }
    return true;
}

static void cluster_handle(struct virtual_cluster *cluster, struct future *future)
{
    if (!cluster->nodes[future->rank].gone && !future->dropped) {
        deliver(cluster, future);
        cluster->result.end_ns = cluster->now_ns;
    }
    heap_return(&cluster->heap, future);
}

static void cluster_enqueue(struct virtual_cluster *cluster, struct future *future)
{
    struct node *node = &cluster->nodes[future->rank];
    if (node->queue_first == NULL && !node->stopped && node->wakes == 0)
        cluster_wake(cluster, future->rank);
    future->next = NULL;
    *node->queue_last = future;
    node->queue_last = &future->next;
}

static void take_from_queue(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    struct future *first = node->queue_first;
    node->wakes--;
    if (node->stopped || first == NULL)
        return;
    if (cluster->ranks != NULL && ranks_busy_until(cluster, rank) > cluster->now_ns) {
        cluster_wake(cluster, rank);
        return;
    }
    node->queue_first = first->next;
    if (node->queue_first == NULL)
        node->queue_last = &node->queue_first;
    cluster_handle(cluster, first);
    if (node->queue_first != NULL)
        cluster_wake(cluster, rank);
}

static void schedule_beginning(struct virtual_cluster *cluster)
{
    const struct virtual_config *config = &cluster->config;
    for (unsigned i = 0; i < launched_ranks(config); i++)
        cluster_schedule(cluster, &(struct future){.at_ns = config->begins_ns, .rank = i, .type = EVENT_START});
    for (unsigned i = 0; i < config->pod_count; i++)
        cluster_schedule(cluster, &(struct future){.at_ns = config->pods[i].at_ns,
                                                   .rank = cluster->topology.supermaster,
                                                   .type = EVENT_JOINED,
                                                   .done = i});
    for (unsigned i = 0, rank = launched_ranks(config); i < config->pod_count; rank += 1 + config->pods[i++].workers)
        if (config->pods[i].leaves_ns > 0)
            cluster_schedule(cluster, &(struct future){.at_ns = config->pods[i].leaves_ns,
                                                       .rank = cluster->topology.supermaster,
                                                       .type = EVENT_LEAVING,
                                                       .from = rank});
    if (config->drain_at_ns != 0 && config->drain_at_ns != NEVER)
        cluster_schedule(
            cluster, &(struct future){.at_ns = config->drain_at_ns, .rank = config->drain_rank, .type = EVENT_DRAIN});
    for (unsigned i = 0; config->is_told_of_growth && i < config->growth_count; i++)
        if (config->growth[i].at_ns != 0 && config->growth[i].at_ns != NEVER)
            cluster_schedule(cluster, &(struct future){.at_ns = config->growth[i].at_ns, .type = EVENT_MORE});
    if (config->cancel_at_ns != 0 && config->cancel_at_ns != NEVER)
        cluster_schedule(cluster, &(struct future){.at_ns = config->cancel_at_ns,
                                                   .rank = cluster->topology.supermaster,
                                                   .type = EVENT_DRAIN,
                                                   .now = true});
    work_schedule_loads(cluster);
    for (unsigned i = 0; i < config->fault_count; i++)
        if (config->faults[i].at_event == 0)
            cluster_schedule(cluster, &(struct future){.at_ns = config->faults[i].at_ns, .fault = &config->faults[i]});
}

uint64_t virtual_busy_ns(const struct virtual_cluster *cluster, unsigned rank)
{
    return cluster->nodes[rank].busy_ns;
}

const struct supermaster *virtual_supermaster(const struct virtual_cluster *cluster)
{
    return &cluster->supermaster;
}

static bool is_busy(const struct virtual_cluster *cluster, unsigned rank)
{
    const struct node *node = &cluster->nodes[rank];
    const uint64_t until_ns = cluster->ranks != NULL ? ranks_busy_until(cluster, rank) : 0;
    return node->busy_until_ns > cluster->now_ns || until_ns > cluster->now_ns || node->queue_first != NULL ||
           node->stopped;
}

/* Returns whether a computing worker acts on the message before the end of its chunk. It does so for RECALL, and for an
 * END that ends running iterations. These messages wait for the end of an iteration. All other messages may be
 * delivered at once. */
static bool is_acted_on(const struct future *future)
{
    const unsigned char *bytes = future_bytes(future);
    struct message message;
    return bytes[0] == MESSAGE_RECALL ||
           (bytes[0] == MESSAGE_END && message_decode(&message, bytes, future->size) == DECODE_OK && message.end.now);
}

/* Returns whether the event comes from the executor. Such an event happens at the end of an iteration. So it need not
 * wait until the worker checks for messages. */
static bool is_of_chunk(const struct future *future)
{
    return future->type == EVENT_MARK || future->type == EVENT_SLICE || future->type == EVENT_ITERATIONS_FAILED ||
           future->type == EVENT_FINISHED || future->type == EVENT_PROBED;
}

static void wait_for_iteration(struct virtual_cluster *cluster, const struct future *future)
{
    struct node *node = &cluster->nodes[future->rank];
    if (node->team != NULL && future->type == EVENT_MESSAGE) {
        const uint64_t hears_ns = thread_model_hears_ns(&node->team->model, cluster->now_ns);
        node->busy_until_ns = hears_ns > node->busy_until_ns ? hears_ns : node->busy_until_ns;
        return;
    }
    if (cluster->config.cuts_at_once && node->computing != NULL)
        return;
    if (node->computing != NULL && !is_of_chunk(future) && node->busy_until_ns <= cluster->now_ns) {
        node->busy_until_ns = work_break_ns(cluster, future->rank);
        return;
    }
    if (cluster->config.cuts_at_once || future->type != EVENT_MESSAGE || !is_acted_on(future))
        return;
    uint64_t end_ns = work_iteration_end_ns(cluster, future->rank);
    node->busy_until_ns = end_ns > node->busy_until_ns ? end_ns : node->busy_until_ns;
}

static void happen(struct virtual_cluster *cluster, struct future *future)
{
    if (future->fault == NULL && !future->wake) {
        wait_for_iteration(cluster, future);
        if (is_busy(cluster, future->rank))
            cluster_enqueue(cluster, future);
        else
            cluster_handle(cluster, future);
        return;
    }
    const unsigned rank = future->rank;
    const struct virtual_fault *fault = future->fault;
    const bool over = future->over, is_turn = future->turn;
    const uint64_t generation = future->generation;
    heap_return(&cluster->heap, future);
    if (is_turn)
        ranks_end_turn(cluster, rank, generation);
    else if (fault == NULL)
        take_from_queue(cluster, rank);
    else if (over)
        faults_end(cluster, fault);
    else
        faults_apply(cluster, fault);
}

/* Fetches the data of the next event early, because with many ranks they are not in the processor's cache. */
static void prefetch_next(const struct virtual_cluster *cluster)
{
    const struct heap *heap = &cluster->heap;
    if (heap->length == 0)
        return;
    const struct node *node = &cluster->nodes[heap->items[0].future->rank];
    __builtin_prefetch(node);
    __builtin_prefetch((const char *)node + 64);
    for (size_t i = 1; i <= 4 && i < heap->length; i++)
        __builtin_prefetch(heap->items[i].future);
}

void virtual_begin(struct virtual_cluster *cluster)
{
    cluster->now_ns = cluster->config.begins_ns;
    cluster->result.status = -1;
    cluster->result.supermaster = &cluster->supermaster;
    cluster->result.journalled = &cluster->journalled;
    cluster->result.deaths = &cluster->deaths;
    cluster->reasons = (struct reason_sink){print_reason, cluster};
    for (unsigned i = 0; cluster->config.trace != NULL && i < cluster_ranks(&cluster->config); i++)
        if (cluster->nodes[i].machine.explain != NULL)
            cluster->nodes[i].machine.explain(cluster->nodes[i].machine.self, &cluster->reasons);
    for (unsigned i = 0; cluster->config.sinks != NULL && i <= cluster->config.masters; i++)
        cluster->nodes[i].machine.trace(cluster->nodes[i].machine.self, cluster->config.sinks[i]);
    schedule_beginning(cluster);
}

uint64_t virtual_next_ns(const struct virtual_cluster *cluster)
{
    return cluster->heap.length > 0 ? cluster->heap.items[0].at_ns : NEVER;
}

static inline bool cluster_advance(struct virtual_cluster *cluster)
{
    const struct virtual_config *config = &cluster->config;
    const uint64_t limit_ns = config->limit_ns > 0 ? config->limit_ns : NS_PER_HOUR;
    const uint64_t limit_events = config->limit_events > 0 ? config->limit_events : UINT64_MAX;
    struct future *future;
    if (cluster->out_of_memory || (future = heap_pop(&cluster->heap)) == NULL || future->at_ns > limit_ns ||
        cluster->result.events >= limit_events)
        return false;
    assert(future->at_ns >= cluster->now_ns && "virtual time never goes back");
    cluster->now_ns = future->at_ns;
    prefetch_next(cluster);
    happen(cluster, future);
    return true;
}

bool virtual_advance(struct virtual_cluster *cluster)
{
    return cluster_advance(cluster);
}

struct virtual_result virtual_end(struct virtual_cluster *cluster)
{
    if ((!cluster_is_over(cluster) && cluster->result.status != -2) || cluster->out_of_memory)
        cluster->result.status = -1;
    store_check(cluster);
    cluster->result.points = cluster->points;
    cluster->result.point_count = store_points(cluster);
    return cluster->result;
}

struct virtual_result virtual_run(struct virtual_cluster *cluster)
{
    virtual_begin(cluster);
    while (cluster_advance(cluster))
        ;
    return virtual_end(cluster);
}

bool virtual_is_over(const struct virtual_cluster *cluster)
{
    return cluster->left == cluster_ranks(&cluster->config);
}

int virtual_status(const struct virtual_cluster *cluster)
{
    return cluster->result.status;
}

void virtual_drain(struct virtual_cluster *cluster, uint64_t now_ns, bool now)
{
    cluster_schedule(cluster, &(struct future){.at_ns = now_ns, .rank = 0, .type = EVENT_DRAIN, .now = now});
}

void virtual_lose(struct virtual_cluster *cluster, unsigned rank, uint64_t now_ns)
{
    assert(now_ns >= cluster->now_ns && now_ns <= virtual_next_ns(cluster));
    cluster->now_ns = now_ns;
    faults_kill(cluster, rank);
}
