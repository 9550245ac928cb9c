/* SPDX-License-Identifier: MIT */
/* Sets up a virtual cluster: its ranks, machines and their configurations. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/service/poison.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/columns.h"
#include "deploy/simulate/virtual/heap.h"
#include "deploy/simulate/virtual/inside.h"
#include "deploy/simulate/virtual/machines.h"
#include "master/master.h"
#include "proto/message.h"
#include "supermaster/supermaster.h"
#include "worker/worker.h"

#include <stdlib.h>

/* Room for the actions of a step. It is enough for an ordinary step, so that a machine allocates no memory here while a
 * test counts allocations. */
#define ACTIONS 128

static int build_topology(struct virtual_cluster *cluster)
{
    unsigned ranks = launched_ranks(&cluster->config);
    struct hello *hellos = calloc(ranks, sizeof *hellos);
    if (hellos == NULL)
        return -1;
    int result = machines_group(&cluster->config, hellos, &cluster->topology);
    for (unsigned i = 0; i < ranks; i++)
        cluster->nodes[i].node = hellos[i].node;
    free(hellos);
    return result;
}

static int complete_spec(struct virtual_config *config, struct error *error)
{
    struct run_spec *spec = &config->spec, defaults;
    if (config->technique == NULL)
        return 0;
    run_spec_init(&defaults);
    if (spec->threads == 0)
        spec->threads = 1;
    if (spec->thread_technique.technique == NULL)
        spec->thread_technique = defaults.thread_technique;
    if (spec->refill_chunks == 0)
        spec->refill_chunks = defaults.refill_chunks;
    if (spec->drain_ns == 0)
        spec->drain_ns = defaults.drain_ns;
    if (config->columns > 0 && spec->min_chunk < columns_distance(config))
        spec->min_chunk = columns_distance(config);
    return run_spec_set_technique(spec, config->technique, error);
}

static int init_supermaster(struct virtual_cluster *cluster, struct error *error)
{
    double *speeds;
    if (machines_speeds(&cluster->config, &speeds, error) < 0)
        return -1;
    const struct supermaster_config config = machines_supermaster(&cluster->config, &cluster->topology, speeds);
    cluster_in_machine(cluster, true);
    int result = supermaster_init(&cluster->supermaster, &config, error);
    cluster_in_machine(cluster, false);
    free(speeds);
    cluster->nodes[0].machine = supermaster_machine(&cluster->supermaster);
    return result;
}

static int init_master(struct virtual_cluster *cluster, unsigned m)
{
    const struct topology *topology = &cluster->topology;
    unsigned *ranks = cluster->master_ranks[m] = calloc(topology_count(topology, m) + 1, sizeof *ranks);
    if (ranks == NULL)
        return -1;
    const struct master_config config = machines_master(&cluster->config, topology, m, ranks);
    /* Tests let allocations fail only for masters of the launch. A pod whose master has no memory would simply not
     * join. */
    const bool is_launched = m < topology->launched;
    cluster_in_machine(cluster, is_launched);
    int result = master_init(&cluster->masters[m], &config);
    cluster_in_machine(cluster, false);
    cluster->nodes[config.rank].machine = master_machine(&cluster->masters[m]);
    return result;
}

static int init_masters(struct virtual_cluster *cluster)
{
    for (unsigned m = 0; m < cluster->topology.masters; m++)
        if (init_master(cluster, m) < 0)
            return -1;
    return 0;
}

static void init_speed(struct virtual_cluster *cluster, unsigned w)
{
    const struct virtual_config *config = &cluster->config;
    struct node *node = &cluster->nodes[cluster->topology.worker_rank[w]];
    bool slows = config->slow_factor > 0 && config->slow_worker == w;
    node->speed = config->speeds != NULL && w < config->workers ? config->speeds[w] : 1;
    node->slow_at_ns = slows ? config->slow_at_ns : NEVER;
    node->slow_factor = slows ? config->slow_factor : 1;
    node->worker = w;
}

static int take_machine(struct node *node, unsigned rank, const struct machine *worker, bool serves)
{
    if (!serves) {
        node->machine = *worker;
        return 0;
    }
    node->computing = malloc(sizeof *node->computing);
    if (node->computing == NULL)
        return -1;
    if (computing_init(node->computing, &node->machine, worker, rank, false) < 0) {
        free(node->computing);
        node->computing = NULL;
        return -1;
    }
    node->machine = computing_machine(node->computing);
    return 0;
}

static int init_worker(struct virtual_cluster *cluster, unsigned w)
{
    const struct topology *topology = &cluster->topology;
    struct pipeline *pipeline = cluster->nodes[topology->worker_rank[w]].pipeline;
    const struct thread_team *team = cluster->nodes[topology->worker_rank[w]].team;
    struct worker_config config =
        machines_worker(&cluster->config, topology, w, pipeline != NULL ? &pipeline->boundaries : NULL);
    config.threads = team != NULL ? &team->model.figures : NULL;
    worker_init(&cluster->workers[w], &config);
    const struct machine machine = worker_machine(&cluster->workers[w]);
    init_speed(cluster, w);
    return take_machine(&cluster->nodes[config.rank], config.rank, &machine, topology_does_both(topology, config.rank));
}

static int init_workers(struct virtual_cluster *cluster)
{
    for (unsigned w = 0; w < cluster->topology.workers; w++)
        if (init_worker(cluster, w) < 0)
            return -1;
    return 0;
}

int cluster_add_pod(struct virtual_cluster *cluster, const struct virtual_pod *pod)
{
    struct topology *topology = &cluster->topology;
    const unsigned first = topology->ranks, m = topology->masters, w = topology->workers;
    cluster_in_machine(cluster, true);
    const int reserved = supermaster_reserve(&cluster->supermaster, pod->workers);
    cluster_in_machine(cluster, false);
    if (reserved < 0)
        return 1;
    if (topology_append(topology, first, 1 + pod->workers, first) < 0)
        return -1;
    for (unsigned rank = first; rank < topology->ranks; rank++) {
        cluster->nodes[rank].node = topology->nodes - 1;
        cluster->nodes[rank].gone = false;
        cluster->left--;
    }
    if (init_master(cluster, m) < 0)
        return -1;
    if (cluster->config.sinks != NULL)
        cluster->nodes[first].machine.trace(cluster->nodes[first].machine.self, cluster->config.sinks[1 + m]);
    for (unsigned i = w; i < topology->workers; i++) {
        if (init_worker(cluster, i) < 0)
            return -1;
        cluster->nodes[topology->worker_rank[i]].speed = pod->speed;
    }
    return 0;
}

static int list_others(struct virtual_cluster *cluster)
{
    const struct precedence *precedence = cluster->config.precedence;
    for (uint64_t i = 0; precedence != NULL && i < precedence->count; i++)
        for (uint64_t k = precedence->begin[i]; k < precedence->begin[i + 1]; k++)
            if (precedence_add(&cluster->others, i, precedence->waiting[k]) < 0)
                return -1;
    return precedence != NULL ? precedence_close(&cluster->others, precedence->count) : 0;
}

static int cluster_setup_allocate(struct virtual_cluster *cluster)
{
    const struct virtual_config *config = &cluster->config;
    unsigned ranks = cluster_ranks(config), masters = config->masters + config->pod_count;
    cluster->nodes = calloc(ranks, sizeof *cluster->nodes);
    cluster->masters = calloc(masters + 1, sizeof *cluster->masters);
    cluster->master_ranks = calloc(masters + 1, sizeof *cluster->master_ranks);
    cluster->workers = calloc(ranks - masters + serving_workers(config), sizeof *cluster->workers);
    if (!cluster->nodes || !cluster->masters || !cluster->master_ranks || !cluster->workers)
        return -1;
    if (config->jitter_ns > 0 || config->fault_count > 0 || config->in_order || config->loses_ranks) {
        cluster->arrivals = calloc((size_t)ranks * LANES, sizeof *cluster->arrivals);
        if (cluster->arrivals == NULL)
            return -1;
    }
    if (config->collect) {
        cluster->output = calloc(config->count + 1, sizeof *cluster->output);
        cluster->written = calloc(config->count + 1, 1);
        if (!cluster->output || !cluster->written)
            return -1;
    }
    for (unsigned i = 0; i < ranks; i++) {
        cluster->nodes[i].deadline_ns = NEVER;
        cluster->nodes[i].dropped = NO_RANK;
        cluster->nodes[i].slow_at_ns = NEVER;
        cluster->nodes[i].service_factor =
            config->rank_speeds != NULL && i < launched_ranks(config) ? 1 / config->rank_speeds[i] : 1;
        cluster->nodes[i].slow_factor = cluster->nodes[i].speed = 1;
        cluster->nodes[i].queue_last = &cluster->nodes[i].queue_first;
        cluster->nodes[i].gone = i >= launched_ranks(config);
        cluster->left += cluster->nodes[i].gone;
    }
    return list_others(cluster) == 0 ? actions_init(&cluster->step.actions, ACTIONS) : -1;
}

struct virtual_cluster *virtual_new(const struct virtual_config *config, struct error *error)
{
    struct virtual_cluster *cluster = calloc(1, sizeof *cluster);
    if (cluster == NULL) {
        error_set(error, "out of memory");
        return NULL;
    }
    cluster->config = *config;
    for (unsigned i = 0; i < config->fault_count; i++)
        cluster->event_faults |= config->faults[i].at_event > 0;
    if (cluster_setup_allocate(cluster) < 0 || build_topology(cluster) < 0 || dependent_init(cluster) < 0) {
        error_set(error, "out of memory");
    } else if (complete_spec(&cluster->config, error) == 0 && threads_init(cluster, error) == 0 &&
               init_supermaster(cluster, error) == 0) {
        if (init_masters(cluster) == 0 && init_workers(cluster) == 0)
            return cluster;
        error_set(error, "out of memory");
    }
    virtual_free(cluster);
    return NULL;
}

void virtual_free(struct virtual_cluster *cluster)
{
    if (cluster == NULL)
        return;
    heap_fini(&cluster->heap);
    ranges_fini(&cluster->journalled);
    precedence_fini(&cluster->others);
    poison_fini(&cluster->deaths);
    for (unsigned i = 0; i < cluster->point_count; i++)
        free(cluster->points[i].data);
    free(cluster->points);
    if (cluster->supermaster.config.topology != NULL)
        supermaster_fini(&cluster->supermaster);
    for (unsigned m = 0; cluster->masters != NULL && m < cluster->config.masters + cluster->config.pod_count; m++) {
        master_fini(&cluster->masters[m]);
        free(cluster->master_ranks[m]);
    }
    const unsigned ranks = cluster->nodes != NULL ? cluster_ranks(&cluster->config) : 0;
    for (unsigned i = 0; i < ranks; i++) {
        if (cluster->nodes[i].computing != NULL)
            computing_fini(cluster->nodes[i].computing);
        free(cluster->nodes[i].computing);
    }
    actions_fini(&cluster->step.actions);
    free(cluster->step.thefts);
    dependent_fini(cluster);
    threads_fini(cluster);
    topology_fini(&cluster->topology);
    free(cluster->nodes);
    free(cluster->arrivals);
    free(cluster->dropped);
    free(cluster->parts);
    free(cluster->masters);
    free(cluster->master_ranks);
    free(cluster->workers);
    free(cluster->output);
    free(cluster->written);
    free(cluster);
}
