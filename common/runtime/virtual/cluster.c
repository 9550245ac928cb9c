/* The virtual cluster: see cluster.h. */
#include "common/runtime/virtual/cluster.h"

#include "common/config/job.h"
#include "common/machine/probe.h"
#include "common/machine/spread.h"
#include "common/runtime/virtual/heap.h"
#include "common/runtime/virtual/trace.h"
#include "common/util/digest.h"
#include "common/util/random.h"
#include "master/master.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_BYTES 8
#define NS_PER_HOUR  3600000000000u

/* A worker's running chunk. */
struct running {
    uint64_t first, count;
    uint64_t started_ns;
    uint64_t sliced;     /* iterations whose results have left */
    uint64_t generation; /* of the events that belong to it */
    uint64_t mark_generation;
};

struct node {
    struct machine machine;
    unsigned node;
    uint64_t busy_until_ns;
    uint64_t deadline_ns; /* for which a TIMER is scheduled; NEVER if none */
    uint64_t timer_generation;
    struct actions actions;
    bool synced; /* by the action before */
    double speed;
    uint64_t slow_at_ns; /* NEVER for most */
    double slow_factor;
    struct speed probed; /* the result of the probe that is running */
    struct running running;
    struct future *queue_first, **queue_last; /* what arrived while it was busy */
    unsigned wakes;                           /* scheduled */
    bool gone;
    bool killed, stopped;
};

struct virtual_cluster {
    struct virtual_config config;
    struct job job; /* the part of it that says what is measured */
    struct topology topology;
    struct supermaster supermaster;
    struct master *masters;
    struct worker *workers;
    unsigned **master_ranks; /* [masters] ranks of its workers */
    struct node *nodes;      /* [ranks] */
    struct heap heap;
    uint64_t now_ns;
    uint64_t *output;       /* [count] collected records */
    unsigned char *written; /* [count] times written */
    uint64_t stores;
    struct ranges journalled;
    struct virtual_result result;
    bool out_of_memory;
};

uint64_t virtual_record(uint64_t iteration)
{
    return random_at(42, iteration);
}

static uint64_t record_digest(uint64_t iteration)
{
    uint64_t record = virtual_record(iteration);
    return digest_record(iteration, &record, sizeof record);
}

uint64_t virtual_checksum(uint64_t first, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = first; i < first + count; i++)
        sum += record_digest(i);
    return sum;
}

/* --- the line-up --- */

static unsigned ranks_of(const struct virtual_config *config)
{
    return 1 + config->masters + config->workers;
}

static unsigned spread(unsigned index, unsigned count, unsigned nodes)
{
    return (unsigned)((uint64_t)index * nodes / count);
}

static int build_topology(struct virtual_cluster *cluster)
{
    const struct virtual_config *config = &cluster->config;
    unsigned ranks = ranks_of(config), nodes = config->nodes > 0 ? config->nodes : 1;
    struct hello *hellos = calloc(ranks, sizeof *hellos);
    if (hellos == NULL)
        return -1;
    for (unsigned i = 0; i < ranks; i++) {
        hellos[i].protocol = PROTOCOL_VERSION;
        if (i == 0) {
            hellos[i].role = ROLE_SUPERMASTER;
        } else if (i <= config->masters) {
            hellos[i].role = ROLE_MASTER;
            hellos[i].node = spread(i - 1, config->masters, nodes);
        } else {
            hellos[i].role = ROLE_WORKER;
            hellos[i].node = spread(i - 1 - config->masters, config->workers, nodes);
        }
        cluster->nodes[i].node = hellos[i].node;
    }
    int result = topology_init(&cluster->topology, hellos, ranks, !config->group_even);
    free(hellos);
    return result;
}

/* What the ranks read from the job's command line. */
static int init_job(struct virtual_cluster *cluster, struct error *error)
{
    struct job *job = &cluster->job;
    job_init(job);
    job->power = cluster->config.measure_power ? JOB_POWER_MEASURE : JOB_POWER_EQUAL;
    return job_set_technique(job, cluster->config.technique, error);
}

static int init_supermaster(struct virtual_cluster *cluster, struct error *error)
{
    const struct virtual_config *config = &cluster->config;
    struct supermaster_config own = {
        .topology = &cluster->topology,
        .technique = cluster->job.technique,
        .technique_auto = cluster->job.technique_auto,
        .ask_ahead = config->ask_ahead != ASK_AHEAD_OFF,
        .probe = job_probes(&cluster->job),
        .weighting = config->weighting,
        .min_chunk = config->min_chunk,
        .first = config->first,
        .count = config->count,
        .record_bytes = config->collect ? RECORD_BYTES : 0,
        .journal = config->journal,
        .done = config->done,
        .done_digest = config->done_digest,
    };
    double *equal = calloc(config->workers, sizeof *equal);
    if (equal == NULL)
        return error_set(error, "out of memory");
    for (unsigned w = 0; w < config->workers; w++)
        equal[w] = 1;
    if (!config->measure_power)
        own.speeds = config->powers != NULL ? config->powers : equal;
    int result = supermaster_init(&cluster->supermaster, &own, error);
    free(equal);
    cluster->nodes[0].machine = supermaster_machine(&cluster->supermaster);
    return result;
}

static int init_masters(struct virtual_cluster *cluster)
{
    const struct topology *topology = &cluster->topology;
    for (unsigned m = 0; m < topology->masters; m++) {
        unsigned count = topology_count(topology, m);
        unsigned *ranks = cluster->master_ranks[m] = calloc(count + 1, sizeof *ranks);
        if (ranks == NULL)
            return -1;
        topology_served_ranks(topology, m, ranks);
        const struct master_config config = {
            .rank = topology->master_rank[m],
            .supermaster = topology->supermaster,
            .ranks = ranks,
            .workers = count,
            .record_bytes = cluster->config.collect ? RECORD_BYTES : 0,
            .feedback = job_learns(&cluster->job),
            .sync = cluster->config.sync,
        };
        if (master_init(&cluster->masters[m], &config) < 0)
            return -1;
        cluster->nodes[config.rank].machine = master_machine(&cluster->masters[m]);
    }
    return 0;
}

static void init_speed(struct virtual_cluster *cluster, unsigned w)
{
    const struct virtual_config *config = &cluster->config;
    struct node *node = &cluster->nodes[cluster->topology.worker_rank[w]];
    bool slows = config->slow_worker_plus_1 == w + 1;
    node->speed = config->speeds != NULL ? config->speeds[w] : 1;
    node->slow_at_ns = slows ? config->slow_at_ns : NEVER;
    node->slow_factor = slows ? config->slow_factor : 1;
}

static void init_workers(struct virtual_cluster *cluster)
{
    const struct topology *topology = &cluster->topology;
    for (unsigned w = 0; w < topology->workers; w++) {
        const struct worker_config config = {
            .rank = topology->worker_rank[w],
            .master = topology->masters > 0 ? topology->master_rank[topology->master_of[w]] : topology->supermaster,
            .probe = job_probes(&cluster->job) && cluster->config.count > 0,
            .supermaster = topology->supermaster,
            .ask_ahead = cluster->config.ask_ahead,
            .ask_ahead_chunks = cluster->config.ask_ahead_chunks,
        };
        worker_init(&cluster->workers[w], &config);
        cluster->nodes[config.rank].machine = worker_machine(&cluster->workers[w]);
        init_speed(cluster, w);
    }
}

static int allocate(struct virtual_cluster *cluster)
{
    const struct virtual_config *config = &cluster->config;
    cluster->nodes = calloc(ranks_of(config), sizeof *cluster->nodes);
    cluster->masters = calloc(config->masters + 1, sizeof *cluster->masters);
    cluster->master_ranks = calloc(config->masters + 1, sizeof *cluster->master_ranks);
    cluster->workers = calloc(config->workers + 1, sizeof *cluster->workers);
    if (!cluster->nodes || !cluster->masters || !cluster->master_ranks || !cluster->workers)
        return -1;
    if (config->collect) {
        cluster->output = calloc(config->count + 1, sizeof *cluster->output);
        cluster->written = calloc(config->count + 1, 1);
        if (!cluster->output || !cluster->written)
            return -1;
    }
    for (unsigned i = 0; i < ranks_of(config); i++) {
        cluster->nodes[i].deadline_ns = NEVER;
        cluster->nodes[i].queue_last = &cluster->nodes[i].queue_first;
        if (actions_init(&cluster->nodes[i].actions, 8) < 0)
            return -1;
    }
    return 0;
}

struct virtual_cluster *virtual_new(const struct virtual_config *config, struct error *error)
{
    struct virtual_cluster *cluster = calloc(1, sizeof *cluster);
    if (cluster == NULL) {
        error_set(error, "out of memory");
        return NULL;
    }
    cluster->config = *config;
    if (allocate(cluster) < 0 || build_topology(cluster) < 0) {
        error_set(error, "out of memory");
    } else if (init_job(cluster, error) == 0 && init_supermaster(cluster, error) == 0) {
        if (init_masters(cluster) == 0) {
            init_workers(cluster);
            return cluster;
        }
        error_set(error, "out of memory");
    }
    virtual_free(cluster);
    return NULL;
}

static void release(struct future *future)
{
    free(future->bytes);
    free(future->data);
}

void virtual_free(struct virtual_cluster *cluster)
{
    if (cluster == NULL)
        return;
    heap_fini(&cluster->heap);
    ranges_fini(&cluster->journalled);
    if (cluster->supermaster.config.topology != NULL)
        supermaster_fini(&cluster->supermaster);
    for (unsigned m = 0; cluster->masters != NULL && m < cluster->config.masters; m++) {
        master_fini(&cluster->masters[m]);
        free(cluster->master_ranks[m]);
    }
    for (unsigned i = 0; cluster->nodes != NULL && i < ranks_of(&cluster->config); i++) {
        actions_fini(&cluster->nodes[i].actions);
        for (struct future *future = cluster->nodes[i].queue_first, *next; future != NULL; future = next) {
            next = future->next;
            release(future);
            free(future);
        }
    }
    topology_fini(&cluster->topology);
    free(cluster->nodes);
    free(cluster->masters);
    free(cluster->master_ranks);
    free(cluster->workers);
    free(cluster->output);
    free(cluster->written);
    free(cluster);
}

/* --- the trace --- */

static void print_line(struct virtual_cluster *cluster, unsigned rank, const char *sign, const char *text)
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
    print_line(cluster, rank, "<", text);
}

static void print_step(struct virtual_cluster *cluster, unsigned rank, const char *before)
{
    const struct node *node = &cluster->nodes[rank];
    const char *after = node->machine.state(node->machine.self);
    char text[300];
    if (cluster->config.trace == NULL)
        return;
    if (before != after) {
        snprintf(text, sizeof text, "%s -> %s", before, after);
        print_line(cluster, rank, "=", text);
    }
    for (size_t i = 0; i < node->actions.length; i++) {
        trace_action(&node->actions.items[i], text, sizeof text);
        print_line(cluster, rank, ">", text);
    }
}

/* --- effects --- */

static void schedule(struct virtual_cluster *cluster, const struct future *future)
{
    if (heap_push(&cluster->heap, future) < 0)
        cluster->out_of_memory = true;
}

static double iteration_cost(const struct virtual_cluster *cluster, uint64_t iteration)
{
    return cluster->config.cost_ns != NULL ? cluster->config.cost_ns(cluster->config.context, iteration) : 1000;
}

/* Time that the worker needs from `started_ns` on for work that costs `cost` at speed 1. */
static double time_of(const struct node *node, uint64_t started_ns, double cost)
{
    double time = cost / node->speed;
    double before = node->slow_at_ns <= started_ns ? 0 : (double)(node->slow_at_ns - started_ns);
    return time <= before ? time : before + (time - before) * node->slow_factor;
}

/* Time that the worker needs from `started_ns` on for `count` iterations. */
static uint64_t work_ns(const struct virtual_cluster *cluster, const struct node *node, uint64_t started_ns,
                        uint64_t first, uint64_t count)
{
    double sum = 0;
    for (uint64_t i = first; i < first + count; i++)
        sum += iteration_cost(cluster, i);
    return (uint64_t)time_of(node, started_ns, sum);
}

static void *copy_bytes(struct virtual_cluster *cluster, const void *bytes, size_t size)
{
    void *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        cluster->out_of_memory = true;
    else
        memcpy(copy, bytes, size);
    return copy;
}

static uint64_t transfer_ns(const struct virtual_cluster *cluster, unsigned from, unsigned to, uint64_t bytes)
{
    const struct virtual_config *config = &cluster->config;
    bool near = cluster->nodes[from].node == cluster->nodes[to].node;
    uint64_t latency = near || config->remote_latency_ns == 0 ? config->latency_ns : config->remote_latency_ns;
    return latency + (config->bytes_per_ns > 0 ? (uint64_t)((double)bytes / config->bytes_per_ns) : 0);
}

static void send_message(struct virtual_cluster *cluster, unsigned from, unsigned to, const struct message *message)
{
    unsigned char bytes[MESSAGE_MAX];
    size_t size = message_encode(message, bytes);
    struct future future = {
        .at_ns = cluster->now_ns + transfer_ns(cluster, from, to, size + message->payload_bytes),
        .rank = to,
        .type = EVENT_MESSAGE,
        .from = from,
        .bytes = copy_bytes(cluster, bytes, size),
        .size = size,
    };
    if (message->payload == PAYLOAD_DATA)
        future.data = copy_bytes(cluster, message->payload_data, message->payload_bytes);
    schedule(cluster, &future);
}

static void schedule_mark(struct virtual_cluster *cluster, unsigned rank, uint64_t mark)
{
    struct node *node = &cluster->nodes[rank];
    struct running *running = &node->running;
    if (mark == 0)
        return;
    schedule(cluster,
             &(struct future){
                 .at_ns = running->started_ns + work_ns(cluster, node, running->started_ns, running->first, mark),
                 .rank = rank,
                 .type = EVENT_MARK,
                 .generation = running->generation,
                 .done = mark,
             });
}

static void begin_chunk(struct virtual_cluster *cluster, unsigned rank, const struct action *action)
{
    struct node *node = &cluster->nodes[rank];
    uint64_t slice = cluster->config.slice_iterations, count = action->run.count;
    node->running = (struct running){
        .first = action->run.first,
        .count = count,
        .started_ns = cluster->now_ns,
        .generation = node->running.generation + 1,
    };
    struct future future = {.rank = rank, .generation = node->running.generation};
    schedule_mark(cluster, rank, action->run.mark);
    for (uint64_t done = slice; slice > 0 && cluster->config.collect && done < count; done += slice) {
        future.type = EVENT_SLICE;
        future.done = done;
        future.at_ns = cluster->now_ns + work_ns(cluster, node, cluster->now_ns, action->run.first, done);
        schedule(cluster, &future);
    }
    future.type = EVENT_FINISHED;
    future.done = count;
    future.at_ns = cluster->now_ns + work_ns(cluster, node, cluster->now_ns, action->run.first, count);
    schedule(cluster, &future);
}

static void probe(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    struct probe probe;
    double cost = 0;
    probe_init(&probe, cluster->config.first, cluster->config.count, job_wants_swr(&cluster->job) ? PROBE_SWR : 1);
    for (uint64_t count; (count = probe_next(&probe)) > 0;) {
        double began = time_of(node, cluster->now_ns, cost), last = began;
        for (uint64_t k = probe.done; k < probe.done + count; k++) {
            cost += iteration_cost(cluster, probe_iteration(&probe, k));
            double now = time_of(node, cluster->now_ns, cost);
            probe_add_single(&probe, k, now - last);
            last = now;
        }
        probe_add(&probe, count, (uint64_t)last - (uint64_t)began);
    }
    probe_finish(&probe, &node->probed);
    schedule(cluster,
             &(struct future){.at_ns = cluster->now_ns + probe.elapsed_ns, .rank = rank, .type = EVENT_PROBED});
}

static bool has_faults(const struct virtual_cluster *cluster)
{
    return cluster->config.fault_count > 0 || cluster->config.poison_plus_1 > 0;
}

static void write_records(struct virtual_cluster *cluster, const struct part *part, const unsigned char *data)
{
    for (uint64_t i = 0; i < part->count; i++) {
        uint64_t place = part->first + i - cluster->config.first;
        memcpy(&cluster->output[place], data + i * RECORD_BYTES, RECORD_BYTES);
        cluster->result.stored_twice += cluster->written[place]++ > 0;
    }
}

static void collect_later(struct virtual_cluster *cluster, unsigned rank, const struct action *action,
                          const void *data);

static void store(struct virtual_cluster *cluster, unsigned rank, const struct action *action, const void *data)
{
    if (action->type == ACTION_COLLECT && has_faults(cluster)) {
        collect_later(cluster, rank, action, data);
        return;
    }
    bool fails = ++cluster->stores == cluster->config.fail_store_plus_1;
    if (!fails)
        write_records(cluster, &action->store.part, data);
    schedule(cluster, &(struct future){
                          .at_ns = cluster->now_ns,
                          .rank = rank,
                          .type = EVENT_STORED,
                          .part = action->store.part,
                          .text = fails ? "No space left on device" : NULL,
                      });
}

static void write_journal(struct virtual_cluster *cluster, const struct action *action)
{
    struct virtual_result *result = &cluster->result;
    for (size_t i = 0; i < action->journal.count; i++) {
        const struct range *range = &action->journal.ranges[i];
        uint64_t added = 0;
        if (ranges_add(&cluster->journalled, range->first, range->count, &added) < 0)
            cluster->out_of_memory = true;
        result->journalled_early += range->count - added;
        for (uint64_t k = 0; cluster->config.collect && k < range->count; k++)
            result->journalled_early += cluster->written[range->first - cluster->config.first + k] == 0;
    }
    result->journalled_digest += action->journal.digest;
    result->journal_writes++;
}

/* With `sync`, what a master reports done is on the disk. */
static void check_synced(struct virtual_cluster *cluster, const struct node *node, const struct action *action)
{
    const struct message *message = &action->send.message;
    if (cluster->config.sync && action->type == ACTION_SEND && message->type == MESSAGE_REPORT)
        cluster->result.journalled_early += message->record_count > 0 && !node->synced;
}

/* --- faults --- */

/* A number from 0 to most, by the seed of the faults. */
static uint64_t chance(const struct virtual_cluster *cluster, unsigned rank, unsigned other, uint64_t most)
{
    return random_at(cluster->config.fault_seed, (uint64_t)rank << 32 | other) % (most + 1);
}

/* When the last message of `rank` arrives that is on its way to `other`; those after `cut_ns` do not. */
static uint64_t last_arrival(struct virtual_cluster *cluster, unsigned rank, unsigned other, uint64_t cut_ns)
{
    uint64_t last = cluster->now_ns;
    for (size_t i = 0; i < cluster->heap.length; i++) {
        struct future *future = &cluster->heap.items[i];
        if (future->rank != other || future->from != rank || future->type != EVENT_MESSAGE || future->wake ||
            future->fault_plus_1 > 0)
            continue;
        future->dropped |= future->at_ns > cut_ns;
        if (!future->dropped && future->at_ns > last)
            last = future->at_ns;
    }
    return last;
}

static bool watches(const struct virtual_cluster *cluster, unsigned watcher, unsigned rank)
{
    const struct topology *topology = &cluster->topology;
    unsigned w = topology_worker(topology, rank), v = topology_worker(topology, watcher);
    if (watcher == rank)
        return false;
    if (rank == topology->supermaster)
        return true;
    if (v < topology->workers)
        return topology->masters > 0 && topology->master_rank[topology->master_of[v]] == rank;
    if (w == topology->workers)
        return watcher == topology->supermaster;
    unsigned master = topology->masters > 0 ? topology->master_rank[topology->master_of[w]] : topology->supermaster;
    return watcher == master ||
           (watcher == topology->supermaster && (cluster->config.watch_all || cluster->nodes[master].killed));
}

static void tell(struct virtual_cluster *cluster, unsigned watcher, unsigned rank, uint64_t after_ns)
{
    schedule(cluster, &(struct future){
                          .at_ns = after_ns + 1 + chance(cluster, watcher, rank, cluster->config.detect_ns),
                          .rank = watcher,
                          .type = EVENT_LOST,
                          .from = rank,
                      });
}

/* The supermaster begins to watch the workers of a master whose end it learns of: those that are dead it learns of now.
 */
static void tell_of_dead_workers(struct virtual_cluster *cluster, unsigned master, uint64_t after_ns)
{
    const struct topology *topology = &cluster->topology;
    unsigned m = topology_master(topology, master);
    for (unsigned w = 0; m < topology->masters && w < topology->workers; w++)
        if (topology->master_of[w] == m && cluster->nodes[topology->worker_rank[w]].gone)
            tell(cluster, topology->supermaster, topology->worker_rank[w], after_ns + cluster->config.detect_ns);
}

static void tell_of_end(struct virtual_cluster *cluster, unsigned rank, uint64_t cut_ns)
{
    for (unsigned watcher = 0; watcher < ranks_of(&cluster->config); watcher++) {
        uint64_t cut =
            cut_ns == NEVER ? NEVER : cut_ns + chance(cluster, rank, watcher, 2 * cluster->config.latency_ns);
        uint64_t last = last_arrival(cluster, rank, watcher, cut);
        if (!watches(cluster, watcher, rank))
            continue;
        tell(cluster, watcher, rank, last);
        if (watcher == cluster->topology.supermaster)
            tell_of_dead_workers(cluster, rank, last);
    }
}

/* Whether a data message that is on its way makes it. */
static bool makes_it(const struct virtual_cluster *cluster, const struct part *part, unsigned rank)
{
    return random_at(cluster->config.fault_seed + 1, part->first + rank) % 2 == 0;
}

/* Data messages of a rank that are being received: half of them make it. */
static void lose_data(struct virtual_cluster *cluster, unsigned rank)
{
    for (size_t i = 0; i < cluster->heap.length; i++) {
        struct future *future = &cluster->heap.items[i];
        if (future->type == EVENT_STORED && !future->wake && future->data != NULL && future->from == rank)
            future->lost = !makes_it(cluster, &future->part, rank);
    }
}

static void kill_rank(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    if (node->gone)
        return;
    if (cluster->config.trace != NULL)
        print_line(cluster, rank, "!", "killed");
    node->gone = node->killed = true;
    cluster->result.killed++;
    if (rank == cluster->topology.supermaster)
        cluster->result.status = -2;
    lose_data(cluster, rank);
    tell_of_end(cluster, rank, cluster->now_ns);
}

/* A data message is here somewhat later than its announcement, if its sender lives so long. */
static void collect_later(struct virtual_cluster *cluster, unsigned rank, const struct action *action, const void *data)
{
    const struct part *part = &action->store.part;
    unsigned from = action->store.from;
    struct future future = {
        .at_ns = cluster->now_ns + cluster->config.collect_ns,
        .rank = rank,
        .type = EVENT_STORED,
        .from = from,
        .part = *part,
        .lost = cluster->nodes[from].killed && !makes_it(cluster, part, from),
    };
    if (!action->store.discard)
        future.data = copy_bytes(cluster, data, part->count * RECORD_BYTES);
    schedule(cluster, &future);
}

static void schedule_wake(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    node->wakes++;
    schedule(cluster,
             &(struct future){.at_ns = node->busy_until_ns > cluster->now_ns ? node->busy_until_ns : cluster->now_ns,
                              .rank = rank,
                              .wake = true});
}

static void apply_fault(struct virtual_cluster *cluster, const struct virtual_fault *fault)
{
    struct node *node = &cluster->nodes[fault->rank];
    static const char *const names[] = {"killed", "stopped", "continued"};
    if (cluster->config.trace != NULL && fault->type != VIRTUAL_KILL)
        print_line(cluster, fault->rank, "!", names[fault->type]);
    if (fault->type == VIRTUAL_KILL)
        kill_rank(cluster, fault->rank);
    else
        node->stopped = fault->type == VIRTUAL_STOP;
    if (fault->type == VIRTUAL_CONTINUE && node->queue_first != NULL && node->wakes == 0)
        schedule_wake(cluster, fault->rank);
}

static void apply(struct virtual_cluster *cluster, unsigned rank, const struct action *action, const void *data)
{
    struct node *node = &cluster->nodes[rank];
    check_synced(cluster, node, action);
    node->synced = action->type == ACTION_SYNC;
    switch (action->type) {
    case ACTION_SEND: send_message(cluster, rank, action->send.to, &action->send.message); break;
    case ACTION_PROBE: probe(cluster, rank); break;
    case ACTION_RUN: begin_chunk(cluster, rank, action); break;
    case ACTION_MARK: schedule_mark(cluster, rank, action->run.mark); break;
    case ACTION_STORE: store(cluster, rank, action, action->store.data); break;
    case ACTION_COLLECT: store(cluster, rank, action, data); break;
    case ACTION_JOURNAL: write_journal(cluster, action); break;
    case ACTION_SYNC: cluster->result.syncs++; break;
    case ACTION_EXIT:
        cluster->nodes[rank].gone = true;
        if (rank == 0)
            cluster->result.status = action->exit.status;
        if (has_faults(cluster))
            tell_of_end(cluster, rank, NEVER);
        break;
    }
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
        schedule(cluster, &(struct future){
                              .at_ns = deadline > cluster->now_ns ? deadline : cluster->now_ns,
                              .rank = rank,
                              .type = EVENT_TIMER,
                              .generation = node->timer_generation,
                          });
}

/* One event into one machine, its actions applied in order. `data` is the data payload that came with a message. */
static void step(struct virtual_cluster *cluster, unsigned rank, const struct event *event, const void *data)
{
    struct node *node = &cluster->nodes[rank];
    const char *before = node->machine.state(node->machine.self);
    print_event(cluster, rank, event);
    actions_clear(&node->actions);
    node->machine.step(node->machine.self, event, &node->actions);
    print_step(cluster, rank, before);
    for (size_t i = 0; i < node->actions.length; i++)
        apply(cluster, rank, &node->actions.items[i], data);
    schedule_timer(cluster, rank);
    node->busy_until_ns = cluster->now_ns + cluster->config.service_ns +
                          node->actions.calculations * cluster->config.calculation_ns +
                          node->actions.assignments * cluster->config.assignment_ns;
    cluster->result.events++;
}

/* --- events --- */

static void deliver_message(struct virtual_cluster *cluster, const struct future *future, struct event *event)
{
    struct message message;
    if (message_decode(&message, future->bytes, future->size) != DECODE_OK)
        abort(); /* the machines sent what the protocol does not allow */
    event->message = &message;
    step(cluster, future->rank, event, future->data);
}

static bool kernel_fails(const struct virtual_cluster *cluster, uint64_t first, uint64_t count)
{
    uint64_t bad = cluster->config.fail_iteration_plus_1;
    return bad > 0 && bad - 1 >= first && bad - 1 < first + count;
}

/* What timing the chunk in pieces shows. */
static void time_pieces(const struct virtual_cluster *cluster, const struct node *node, struct chunk_event *chunk)
{
    const struct running *running = &node->running;
    struct spread spread = {0};
    double iteration_ns = (double)chunk->compute_ns / (double)running->count, cost = 0, before = 0;
    for (uint64_t done = 0, piece; done < running->count; done += piece) {
        piece = spread_piece(running->count, running->count - done, iteration_ns);
        for (uint64_t i = 0; i < piece; i++)
            cost += iteration_cost(cluster, running->first + done + i);
        double now = time_of(node, running->started_ns, cost);
        spread_add(&spread, piece, now - before);
        before = now;
    }
    chunk->deviation_ns = spread_deviation_ns(&spread);
    chunk->samples = (uint32_t)spread.pieces;
}

/* Results of the running chunk from `sliced` up to future->done. */
static void deliver_results(struct virtual_cluster *cluster, const struct future *future, struct event *event)
{
    struct running *running = &cluster->nodes[future->rank].running;
    uint64_t first = running->first + running->sliced, count = future->done - running->sliced;
    uint64_t *records = malloc((count + 1) * sizeof *records);
    if (records == NULL) {
        cluster->out_of_memory = true;
        return;
    }
    event->chunk.count = count;
    for (uint64_t i = 0; i < count; i++) {
        records[i] = virtual_record(first + i);
        event->chunk.digest += record_digest(first + i);
    }
    if (cluster->config.collect) {
        event->chunk.data = records;
        event->chunk.bytes = count * RECORD_BYTES;
    }
    if (future->type == EVENT_FINISHED && kernel_fails(cluster, running->first, running->count))
        event->text = "iteration\tfailed"; /* not one line of text as PROBLEM wants it: the machines see to that */
    if (future->type == EVENT_FINISHED && job_learns(&cluster->job))
        time_pieces(cluster, &cluster->nodes[future->rank], &event->chunk);
    cluster->result.executed += count;
    running->sliced = future->done;
    step(cluster, future->rank, event, NULL);
    free(records);
}

static void deliver_chunk_event(struct virtual_cluster *cluster, const struct future *future, struct event *event)
{
    struct node *node = &cluster->nodes[future->rank];
    if (future->generation != node->running.generation)
        return;
    event->chunk.done = future->done;
    event->chunk.compute_ns = cluster->now_ns - node->running.started_ns;
    uint64_t poison = cluster->config.poison_plus_1 - 1, at = node->running.first;
    if (future->type != EVENT_MARK && poison >= at + node->running.sliced && poison < at + future->done) {
        kill_rank(cluster, future->rank);
        return;
    }
    if (future->type == EVENT_MARK)
        step(cluster, future->rank, event, NULL);
    else
        deliver_results(cluster, future, event);
}

static void deliver(struct virtual_cluster *cluster, const struct future *future)
{
    struct node *node = &cluster->nodes[future->rank];
    struct event event = {.type = future->type, .now_ns = cluster->now_ns, .from = future->from, .text = future->text};
    switch (future->type) {
    case EVENT_MESSAGE: deliver_message(cluster, future, &event); return;
    case EVENT_MARK:
    case EVENT_SLICE:
    case EVENT_FINISHED: deliver_chunk_event(cluster, future, &event); return;
    case EVENT_TIMER:
        if (future->generation != node->timer_generation)
            return;
        node->deadline_ns = NEVER;
        break;
    case EVENT_STORED:
        event.part = future->part;
        event.lost = future->lost;
        if (future->data != NULL && !future->lost)
            write_records(cluster, &future->part, future->data);
        break;
    case EVENT_LOST:
        if (future->from != cluster->topology.supermaster)
            break;
        node->gone = true; /* nothing to decide */
        return;
    case EVENT_PROBED: event.speed = &node->probed; break;
    default: break;
    }
    step(cluster, future->rank, &event, NULL);
}

static bool was_done(const struct virtual_cluster *cluster, uint64_t iteration)
{
    return cluster->config.done != NULL && ranges_contains(cluster->config.done, iteration);
}

static void check_output(struct virtual_cluster *cluster)
{
    uint64_t first = cluster->config.first;
    for (uint64_t i = 0; cluster->config.collect && i < cluster->config.count; i++)
        if (cluster->written[i] > 0)
            cluster->result.wrong += cluster->output[i] != virtual_record(first + i) || was_done(cluster, first + i);
        else
            cluster->result.wrong += cluster->result.status == EXIT_STATUS_DONE && !was_done(cluster, first + i);
}

static bool is_over(struct virtual_cluster *cluster)
{
    for (unsigned i = 0; i < ranks_of(&cluster->config); i++)
        if (!cluster->nodes[i].gone && !cluster->nodes[i].stopped) {
            cluster->result.hung_rank = i;
            return false;
        }
    return true;
}

static void handle(struct virtual_cluster *cluster, struct future *future)
{
    if (!cluster->nodes[future->rank].gone && !future->dropped) {
        deliver(cluster, future);
        cluster->result.end_ns = cluster->now_ns;
    }
    release(future);
}

/* A rank takes its events one at a time, in the order in which they arrive. */
static void enqueue(struct virtual_cluster *cluster, const struct future *future)
{
    struct node *node = &cluster->nodes[future->rank];
    struct future *queued = copy_bytes(cluster, future, sizeof *future);
    if (queued == NULL)
        return;
    if (node->queue_first == NULL && !node->stopped && node->wakes == 0)
        schedule_wake(cluster, future->rank);
    queued->next = NULL;
    *node->queue_last = queued;
    node->queue_last = &queued->next;
}

static void take_from_queue(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    struct future *first = node->queue_first;
    node->wakes--;
    if (node->stopped || first == NULL)
        return;
    node->queue_first = first->next;
    if (node->queue_first == NULL)
        node->queue_last = &node->queue_first;
    handle(cluster, first);
    free(first);
    if (node->queue_first != NULL)
        schedule_wake(cluster, rank);
}

static void schedule_beginning(struct virtual_cluster *cluster)
{
    const struct virtual_config *config = &cluster->config;
    for (unsigned i = 0; i < ranks_of(config); i++)
        schedule(cluster, &(struct future){.rank = i, .type = EVENT_START});
    if (config->drain_at_ns != 0 && config->drain_at_ns != NEVER)
        schedule(cluster,
                 &(struct future){.at_ns = config->drain_at_ns, .rank = config->drain_rank, .type = EVENT_DRAIN});
    for (unsigned i = 0; i < config->fault_count; i++)
        schedule(cluster, &(struct future){.at_ns = config->faults[i].at_ns, .fault_plus_1 = i + 1});
}

const struct supermaster *virtual_supermaster(const struct virtual_cluster *cluster)
{
    return &cluster->supermaster;
}

struct virtual_result virtual_run(struct virtual_cluster *cluster)
{
    uint64_t limit = cluster->config.limit_ns > 0 ? cluster->config.limit_ns : NS_PER_HOUR;
    struct future future;
    cluster->result.status = -1;
    cluster->result.supermaster = &cluster->supermaster;
    cluster->result.journalled = &cluster->journalled;
    schedule_beginning(cluster);
    while (!cluster->out_of_memory && heap_pop(&cluster->heap, &future)) {
        const struct node *node = &cluster->nodes[future.rank];
        if (future.at_ns > limit) {
            release(&future);
            break;
        }
        cluster->now_ns = future.at_ns;
        if (future.fault_plus_1 > 0)
            apply_fault(cluster, &cluster->config.faults[future.fault_plus_1 - 1]);
        else if (future.wake)
            take_from_queue(cluster, future.rank);
        else if (node->busy_until_ns > future.at_ns || node->queue_first != NULL || node->stopped)
            enqueue(cluster, &future);
        else
            handle(cluster, &future);
    }
    if ((!is_over(cluster) && cluster->result.status != -2) || cluster->out_of_memory)
        cluster->result.status = -1;
    check_output(cluster);
    return cluster->result;
}
