/* SPDX-License-Identifier: MIT */
/* Workers with several threads in a virtual cluster. After each change of the model (thread_model.h), its next event is
 * scheduled again. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "deploy/simulate/virtual/heap.h"
#include "deploy/simulate/virtual/inside.h"
#include "deploy/simulate/virtual/machines.h"
#include "deploy/simulate/virtual/thread_model.h"

#include <assert.h>
#include <stdlib.h>

static double thread_time_ns(void *context, const struct thread_work *work)
{
    const struct thread_team *team = context;
    const struct virtual_cluster *cluster = team->cluster;
    const struct virtual_config *config = &cluster->config;
    const double calls_ns =
        virtual_call_ns(config, work->before_ns, (double)work->start_ns) + config->call_ns * (double)(work->calls - 1);
    return work_time_ns(cluster, &cluster->nodes[team->rank], work->start_ns,
                        calls_ns + work_range_cost(cluster, work->first, work->count));
}

int threads_init(struct virtual_cluster *cluster, struct error *error)
{
    const struct run_spec *spec = &cluster->config.spec;
    const unsigned ranks = cluster_ranks(&cluster->config);
    if (spec->threads <= 1)
        return 0;
    assert(!is_dependent(cluster) && cluster->config.outcome == NULL &&
           "threads compute what always works, in any order");
    cluster->teams = calloc(ranks, sizeof *cluster->teams);
    if (cluster->teams == NULL)
        return error_set(error, "out of memory for the threads of %u ranks", ranks);
    for (unsigned rank = 1 + cluster->config.masters; rank < ranks; rank++) {
        struct thread_team *team = cluster->nodes[rank].team = &cluster->teams[rank];
        team->cluster = cluster;
        team->rank = rank;
        if (thread_model_init(&team->model, rank, spec->threads, &spec->thread_technique, thread_time_ns, team, error) <
            0)
            return -1;
        team->model.slice = work_slice(cluster);
        team->model.spread = run_spec_learns(spec);
    }
    return 0;
}

void threads_fini(struct virtual_cluster *cluster)
{
    for (unsigned rank = 0; cluster->teams != NULL && rank < cluster_ranks(&cluster->config); rank++)
        thread_model_fini(&cluster->teams[rank].model);
    free(cluster->teams);
    cluster->teams = NULL;
}

static void threads_schedule(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    struct thread_team *team = node->team;
    node->running.generation++;
    cluster->out_of_memory |= team->model.is_out_of_memory;
    if (cluster->out_of_memory || !thread_model_next(&team->model, &team->next))
        return;
    const uint64_t at_ns = team->next.at_ns;
    cluster_schedule(cluster, &(struct future){.at_ns = at_ns > cluster->now_ns ? at_ns : cluster->now_ns,
                                               .rank = rank,
                                               .type = team->next.type,
                                               .generation = node->running.generation,
                                               .done = team->next.done});
}

void threads_begin(struct virtual_cluster *cluster, unsigned rank, const struct action *action, uint64_t begins_ns)
{
    thread_model_begin(&cluster->nodes[rank].team->model, begins_ns, action->run.first, action->run.count,
                       action->run.mark);
    threads_schedule(cluster, rank);
}

void threads_mark(struct virtual_cluster *cluster, unsigned rank, uint64_t mark)
{
    thread_model_set_mark(&cluster->nodes[rank].team->model, mark);
    threads_schedule(cluster, rank);
}

struct range threads_cut(struct virtual_cluster *cluster, unsigned rank, unsigned waiting)
{
    const struct range cut = thread_model_cut(&cluster->nodes[rank].team->model, cluster->now_ns, waiting);
    threads_schedule(cluster, rank);
    return cut;
}

void threads_forget(struct virtual_cluster *cluster, unsigned rank)
{
    thread_model_forget(&cluster->nodes[rank].team->model, cluster->now_ns);
    threads_schedule(cluster, rank);
}

void threads_slow(struct virtual_cluster *cluster, unsigned rank, double factor)
{
    thread_model_slow(&cluster->nodes[rank].team->model, cluster->now_ns, factor);
    threads_schedule(cluster, rank);
}

void threads_deliver(struct virtual_cluster *cluster, const struct future *future, struct event *event)
{
    struct node *node = &cluster->nodes[future->rank];
    unsigned char *results = NULL;
    if (future->generation != node->running.generation)
        return;
    const struct range range = thread_model_take(&node->team->model, &node->team->next, cluster->now_ns, event);
    if (range.count > 0)
        results = cluster_fill_results(cluster, future->rank, range.first, range.count, event);
    threads_schedule(cluster, future->rank);
    if (!cluster->out_of_memory)
        cluster_step(cluster, future->rank, event, NULL);
    free(results);
}
