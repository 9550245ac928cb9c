/* SPDX-License-Identifier: MIT */
/* Lost, stopped, slow and stalled ranks: which ranks are notified when, and which of the last messages arrive.
 *
 * Between living ranks MPI neither loses nor duplicates messages, and keeps their order. If a rank is lost, the fault
 * seed chooses among these effects:
 * - dropped: messages of the dead rank arrive up to a certain time, which is different for each receiver and may be in
 *   the middle of a step. Messages to the dead rank are not read;
 * - reordered: messages between different pairs of ranks may arrive in any order. A rank gets the notice of the loss
 *   after the last messages of the dead rank, but before or after messages of other ranks;
 * - delayed: jitter and stalls delay messages until the delay looks like a loss;
 * - duplicated: a rank that was only stopped or stalled continues after it was declared lost. Its results arrive in
 *   addition to those of its replacement. Ranks that take over the workers of a dead master get reports twice. */
#include "deploy/simulate/virtual/inside.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/util/random.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/machines.h"
#include "proto/message.h"

#include <stdlib.h>

bool faults_any(const struct virtual_cluster *cluster)
{
    return cluster->config.fault_count > 0 || cluster->config.outcome != NULL || cluster->config.loses_ranks;
}

static uint64_t chance(const struct virtual_cluster *cluster, unsigned rank, unsigned other, uint64_t most)
{
    return random_at(cluster->config.fault_seed, (uint64_t)rank << 32 | other) % (most + 1);
}

static uint64_t *lane(const struct virtual_cluster *cluster, unsigned from, unsigned to)
{
    const struct topology *topology = &cluster->topology;
    unsigned above = topology->supermaster, below = from;
    if (from == above)
        below = to;
    else if (to != above) {
        above = from < to ? from : to;
        below = from < to ? to : from;
    }
    return &cluster->arrivals[(size_t)below * LANES + 2 * (above == topology->supermaster) + (from == below)];
}

static uint64_t latest_arrival(const struct virtual_cluster *cluster, unsigned from, unsigned to)
{
    uint64_t last = *lane(cluster, from, to);
    return last > cluster->now_ns ? last : cluster->now_ns;
}

static uint64_t last_arrival(struct virtual_cluster *cluster, unsigned rank, unsigned other, uint64_t cut_ns)
{
    uint64_t last = cluster->now_ns;
    for (size_t i = 0; i < cluster->heap.length; i++) {
        struct future *future = cluster->heap.items[i].future;
        if (future->rank != other || future->from != rank || future->type != EVENT_MESSAGE || future->wake ||
            future->fault != NULL)
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
    unsigned w = topology_worker(topology, rank);
    bool masterless = cluster->config.watch_all;
    if (w < topology->workers && topology->masters > 0)
        masterless |= cluster->nodes[topology->master_rank[topology->master_of[w]]].gone;
    return machines_watches(topology, watcher, rank, masterless);
}

static void faults_tell(struct virtual_cluster *cluster, unsigned watcher, unsigned rank, uint64_t after_ns)
{
    cluster_schedule(cluster, &(struct future){
                                  .at_ns = after_ns + machines_notice_ns(&cluster->config, watcher, rank),
                                  .rank = watcher,
                                  .type = EVENT_RANK_LOST,
                                  .from = rank,
                              });
}

static void tell_of_dead_workers(struct virtual_cluster *cluster, unsigned master, uint64_t after_ns)
{
    const struct topology *topology = &cluster->topology;
    unsigned m = topology_master(topology, master);
    for (unsigned w = 0; m < topology->masters && w < topology->workers; w++)
        if (topology->master_of[w] == m && cluster->nodes[topology->worker_rank[w]].gone)
            faults_tell(cluster, topology->supermaster, topology->worker_rank[w], after_ns + cluster->config.detect_ns);
}

static void tell_peer(struct virtual_cluster *cluster, unsigned peer, unsigned rank, uint64_t cut_ns)
{
    const struct virtual_config *config = &cluster->config;
    uint64_t most = config->last_ns > 0 ? config->last_ns : 2 * config->latency_ns, last;
    if (cut_ns == NEVER && config->in_order)
        last = latest_arrival(cluster, rank, peer);
    else
        last = last_arrival(cluster, rank, peer, cut_ns == NEVER ? NEVER : cut_ns + chance(cluster, rank, peer, most));
    if (!watches(cluster, peer, rank))
        return;
    faults_tell(cluster, peer, rank, last);
    if (peer == cluster->topology.supermaster)
        tell_of_dead_workers(cluster, rank, last);
}

static void tell_of_end_of_pod(struct virtual_cluster *cluster, unsigned m, uint64_t cut_ns)
{
    const struct topology *topology = &cluster->topology;
    const unsigned rank = topology->master_rank[m];
    tell_peer(cluster, topology->supermaster, rank, cut_ns);
    for (unsigned i = 0; i < topology_count(topology, m); i++)
        tell_peer(cluster, topology->served_rank[topology_first(topology, m) + i], rank, cut_ns);
}

/* Notifies other ranks of the end of a rank. If a worker ends and iterations are independent, only its master and the
 * supermaster exchange messages with it, so only these are notified. */
void faults_tell_of_end(struct virtual_cluster *cluster, unsigned rank, uint64_t cut_ns)
{
    const struct topology *topology = &cluster->topology;
    const unsigned w = topology_worker(topology, rank), m = topology_master(topology, rank);
    if (m < topology->masters && m >= topology->launched) {
        tell_of_end_of_pod(cluster, m, cut_ns);
        return;
    }
    if (w == topology->workers || topology_does_both(topology, rank) || is_dependent(cluster)) {
        for (unsigned peer = 0; peer < cluster_ranks(&cluster->config); peer++)
            tell_peer(cluster, peer, rank, cut_ns);
        return;
    }
    tell_peer(cluster, topology->supermaster, rank, cut_ns);
    if (topology->masters > 0)
        tell_peer(cluster, topology->master_rank[topology->master_of[w]], rank, cut_ns);
}

bool faults_spare(const struct virtual_cluster *cluster, const struct part *part, unsigned rank)
{
    return random_at(cluster->config.fault_seed + 1, part->first + rank) % 2 == 0;
}

static void lose_data(struct virtual_cluster *cluster, unsigned rank)
{
    for (size_t i = 0; i < cluster->heap.length; i++) {
        struct future *future = cluster->heap.items[i].future;
        if (future->type == EVENT_STORED && !future->wake && future->data != NULL && future->from == rank)
            future->lost = !faults_spare(cluster, &future->part, rank);
    }
}

void faults_kill(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    if (node->gone)
        return;
    if (cluster->config.trace != NULL)
        cluster_print(cluster, rank, "!", "killed");
    node->killed = true;
    cluster_leave(cluster, rank);
    cluster->result.killed++;
    if (rank == cluster->topology.supermaster)
        cluster->result.status = -2;
    lose_data(cluster, rank);
    faults_tell_of_end(cluster, rank, cluster->now_ns);
    if (cluster->ranks != NULL)
        ranks_lose(cluster->ranks, rank, cluster->now_ns);
}

void faults_kill_all(struct virtual_cluster *cluster)
{
    for (unsigned rank = 0; rank < cluster_ranks(&cluster->config); rank++)
        faults_kill(cluster, rank);
}

static void faults_go_on(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    node->stopped = false;
    if (node->queue_first != NULL && node->wakes == 0)
        cluster_wake(cluster, rank);
}

static void slow_down(struct virtual_cluster *cluster, unsigned rank, double factor)
{
    struct node *node = &cluster->nodes[rank];
    uint64_t now = cluster->now_ns;
    if (node->slow_at_ns <= now)
        node->speed /= node->slow_factor;
    node->slow_at_ns = now;
    node->slow_factor = factor;
    node->service_factor *= factor;
    if (node->running.ends_ns > now)
        node->running.ends_ns = now + (uint64_t)((double)(node->running.ends_ns - now) * factor);
    if (is_dependent(cluster))
        dependent_slow(cluster, rank, factor);
    heap_slow(&cluster->heap, rank, now, factor);
    if (node->team != NULL)
        threads_slow(cluster, rank, factor);
}

static void schedule_end(struct virtual_cluster *cluster, const struct virtual_fault *fault)
{
    if (fault->for_ns > 0)
        cluster_schedule(cluster,
                         &(struct future){.at_ns = cluster->now_ns + fault->for_ns, .fault = fault, .over = true});
}

void faults_apply(struct virtual_cluster *cluster, const struct virtual_fault *fault)
{
    static const char *const names[] = {"killed",      "stopped", "continued", "all killed",
                                        "slowed down", "stalled", "babbles",   "has a problem"};
    struct node *node = &cluster->nodes[fault->rank];
    cluster->result.hits++;
    if (cluster->config.trace != NULL && fault->type != VIRTUAL_KILL)
        cluster_print(cluster, fault->rank, "!", names[fault->type]);
    switch (fault->type) {
    case VIRTUAL_KILL: faults_kill(cluster, fault->rank); break;
    case VIRTUAL_STOP:
        node->stopped = true;
        schedule_end(cluster, fault);
        break;
    case VIRTUAL_CONTINUE: faults_go_on(cluster, fault->rank); break;
    case VIRTUAL_KILL_ALL: faults_kill_all(cluster); break;
    case VIRTUAL_SLOW: slow_down(cluster, fault->rank, fault->factor); break;
    case VIRTUAL_BABBLE: node->sends_garbage = true; break;
    case VIRTUAL_STALL: node->stalled_until_ns = cluster->now_ns + fault->for_ns; break;
    case VIRTUAL_PROBLEM:
        cluster_schedule(cluster, &(struct future){.at_ns = cluster->now_ns,
                                                   .rank = fault->rank,
                                                   .type = EVENT_FATAL,
                                                   .text = "it has a problem"});
        break;
    }
}

void faults_end(struct virtual_cluster *cluster, const struct virtual_fault *fault)
{
    if (cluster->config.trace != NULL)
        cluster_print(cluster, fault->rank, "!", "continued");
    faults_go_on(cluster, fault->rank);
}

static size_t garble(struct random *random, unsigned char *bytes, size_t size)
{
    struct message message;
    for (unsigned i = 0; i < 100 && message_decode(&message, bytes, size) == DECODE_OK; i++)
        bytes[random_between(random, 0, size - 1)] ^= (unsigned char)(1u << random_between(random, 0, 7));
    if (message_decode(&message, bytes, size) == DECODE_OK)
        bytes[0] = 0xff;
    return size;
}

static size_t misplace(const struct virtual_cluster *cluster, unsigned from, unsigned to, unsigned char *bytes)
{
    const struct topology *topology = &cluster->topology;
    bool up = to == topology->supermaster || topology_worker(topology, from) < topology->workers;
    return message_encode(&(struct message){.type = up ? MESSAGE_END : MESSAGE_REPORT}, FIRST_JOB, bytes);
}

size_t faults_send_garbage(struct virtual_cluster *cluster, unsigned from, unsigned to, unsigned char *bytes,
                           size_t size)
{
    struct random random;
    random_init(&random, random_at(cluster->config.fault_seed + 3, cluster->sends));
    cluster->nodes[from].sends_garbage = false;
    cluster->result.sent_garbage++;
    switch (random_between(&random, 0, 2)) {
    case 0: return misplace(cluster, from, to, bytes);
    case 1: return random_between(&random, 0, HEADER_BYTES - 1);
    default: return garble(&random, bytes, size);
    }
}

bool faults_has_dropped(const struct virtual_cluster *cluster, unsigned rank, unsigned other)
{
    return cluster->dropped != NULL && cluster->dropped[(size_t)rank * cluster_ranks(&cluster->config) + other];
}

static void cancel(struct future *future, unsigned rank, unsigned from)
{
    future->lost |= future->type == EVENT_STORED && !future->wake && future->rank == rank && future->from == from;
}

static void faults_cancel_collects(struct virtual_cluster *cluster, unsigned rank, unsigned from)
{
    for (size_t i = 0; i < cluster->heap.length; i++)
        cancel(cluster->heap.items[i].future, rank, from);
    for (struct future *queued = cluster->nodes[rank].queue_first; queued != NULL; queued = queued->next)
        cancel(queued, rank, from);
}

void faults_drop(struct virtual_cluster *cluster, unsigned rank, unsigned other, const char *text)
{
    size_t ranks = cluster_ranks(&cluster->config);
    if (faults_has_dropped(cluster, rank, other))
        return;
    if (cluster->config.trace != NULL)
        cluster_print(cluster, other, "!", text);
    cluster->result.drops++;
    if (other == cluster->topology.supermaster) {
        faults_kill(cluster, rank);
        return;
    }
    if (cluster->dropped == NULL)
        cluster->dropped = calloc(ranks * ranks, sizeof *cluster->dropped);
    if (cluster->dropped == NULL) {
        cluster->out_of_memory = true;
        return;
    }
    cluster->dropped[rank * ranks + other] = true;
    cluster->nodes[rank].dropped = other;
    faults_cancel_collects(cluster, rank, other);
    cluster_schedule(cluster, &(struct future){
                                  .at_ns = cluster->now_ns + chance(cluster, rank, other, cluster->config.detect_ns),
                                  .rank = other,
                                  .fenced = true,
                              });
}

static bool faults_is_due(const struct virtual_cluster *cluster, const struct virtual_fault *fault, unsigned rank)
{
    return fault->rank == rank && fault->at_event > 0 && fault->at_event == cluster->nodes[rank].handled;
}

size_t faults_limit(const struct virtual_cluster *cluster, unsigned rank, size_t count)
{
    for (unsigned i = 0; cluster->event_faults && i < cluster->config.fault_count; i++) {
        const struct virtual_fault *fault = &cluster->config.faults[i];
        bool kills = fault->type == VIRTUAL_KILL || fault->type == VIRTUAL_KILL_ALL;
        if (kills && faults_is_due(cluster, fault, rank) && fault->after_actions < count)
            count = fault->after_actions;
    }
    return count;
}

void faults_after_event(struct virtual_cluster *cluster, unsigned rank)
{
    for (unsigned i = 0; cluster->event_faults && i < cluster->config.fault_count; i++)
        if (faults_is_due(cluster, &cluster->config.faults[i], rank))
            faults_apply(cluster, &cluster->config.faults[i]);
}

uint64_t faults_arrival(struct virtual_cluster *cluster, unsigned from, unsigned to, uint64_t transfer_ns)
{
    const struct virtual_config *config = &cluster->config;
    if (cluster->arrivals == NULL)
        return cluster->now_ns + transfer_ns;
    uint64_t *latest = lane(cluster, from, to);
    uint64_t later =
        config->jitter_ns == 0 ? 0 : random_at(config->fault_seed + 2, cluster->sends) % (config->jitter_ns + 1);
    const uint64_t not_before[] = {cluster->nodes[from].stalled_until_ns, cluster->nodes[to].stalled_until_ns, *latest};
    uint64_t at = cluster->now_ns + transfer_ns + later;
    for (unsigned i = 0; i < sizeof not_before / sizeof *not_before; i++)
        at = at > not_before[i] ? at : not_before[i];
    return *latest = at;
}
