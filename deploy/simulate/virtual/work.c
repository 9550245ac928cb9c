/* SPDX-License-Identifier: MIT */
/* Modelled work. Iteration i takes cost(i) / speed of its worker. After a slowdown, the rest of the work takes
 * `slow_factor` times as long. Other processes may compete for the core. */
#include "deploy/simulate/virtual/inside.h"
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/probe.h"
#include "common/machine/spread.h"
#include "common/machine/topology.h"
#include "common/sched/sched.h"
#include "common/util/precedence.h"
#include "common/util/random.h"
#include "deploy/simulate/virtual/breaks.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/machines.h"
#include "proto/message.h"
#include "proto/record.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"

#include <assert.h>

static double iteration_cost(const struct virtual_cluster *cluster, uint64_t iteration)
{
    const struct virtual_config *config = &cluster->config;
    if (config->costs_ns != NULL)
        return config->costs_ns(config->context, iteration, 1);
    return config->cost_ns != NULL ? config->cost_ns(config->context, iteration) : 1000;
}

double work_range_cost(const struct virtual_cluster *cluster, uint64_t first, uint64_t count)
{
    const struct virtual_config *config = &cluster->config;
    if (config->costs_ns != NULL)
        return virtual_cost_ns(config, config->costs_ns(config->context, first, count), count);
    double sum = 0;
    for (uint64_t i = first; i < first + count; i++)
        sum += iteration_cost(cluster, i);
    return virtual_cost_ns(config, sum, count);
}

static double core_time_of(const struct node *node, uint64_t started_ns, double cost)
{
    double time = cost / node->speed;
    double before = node->slow_at_ns <= started_ns ? 0 : (double)(node->slow_at_ns - started_ns);
    return time <= before ? time : before + (time - before) * node->slow_factor;
}

static double share_of_core(const struct virtual_cluster *cluster, unsigned w, uint64_t started_ns, double time)
{
    const struct virtual_load *loads = cluster->config.loads;
    double load = 1, passed = 0;
    for (unsigned i = 0; i < cluster->config.load_count; i++) {
        if (loads[i].worker != w)
            continue;
        double until = loads[i].at_ns > started_ns ? (double)(loads[i].at_ns - started_ns) : 0;
        if (passed + time * load <= until)
            break;
        time -= (until - passed) / load;
        passed = until;
        load = loads[i].load;
    }
    return passed + time * load;
}

double work_time_ns(const struct virtual_cluster *cluster, const struct node *node, uint64_t started_ns, double cost_ns)
{
    double time = core_time_of(node, started_ns, cost_ns);
    return cluster->config.load_count > 0 ? share_of_core(cluster, node->worker, started_ns, time) : time;
}

uint64_t work_ns(const struct virtual_cluster *cluster, const struct node *node, uint64_t started_ns, double calls_ns,
                 uint64_t first, uint64_t count)
{
    return (uint64_t)work_time_ns(cluster, node, started_ns, calls_ns + work_range_cost(cluster, first, count));
}

static uint64_t running_done_ns(const struct virtual_cluster *cluster, const struct node *node, uint64_t done)
{
    const struct running *running = &node->running;
    return running->started_ns + work_ns(cluster, node, running->started_ns, running->call_ns, running->first, done);
}

static uint16_t to_wire(double load)
{
    return (uint16_t)(load * LOAD_ONE);
}

void work_schedule_loads(struct virtual_cluster *cluster)
{
    const struct virtual_config *config = &cluster->config;
    bool are_told = config->spec.weighting == SCHED_WEIGHTING_ACP;
    for (unsigned i = 0; i < config->load_count && are_told; i++)
        if (config->loads[i].at_ns > 0)
            cluster_schedule(cluster, &(struct future){.at_ns = config->loads[i].at_ns,
                                                       .rank = cluster->topology.worker_rank[config->loads[i].worker],
                                                       .type = EVENT_LOAD,
                                                       .done = to_wire(config->loads[i].load)});
}

static void work_schedule(struct virtual_cluster *cluster, const struct future *future)
{
    if (future->at_ns > cluster->nodes[future->rank].running.until_ns)
        return;
    if (future->at_ns >= cluster->now_ns) {
        cluster_schedule(cluster, future);
        return;
    }
    struct future due = *future;
    due.at_ns = cluster->now_ns;
    cluster_schedule(cluster, &due);
}

void work_mark(struct virtual_cluster *cluster, unsigned rank, uint64_t mark)
{
    struct node *node = &cluster->nodes[rank];
    struct running *running = &node->running;
    if (node->team != NULL) {
        threads_mark(cluster, rank, mark);
        return;
    }
    if (is_dependent(cluster))
        node->pipeline->mark = mark;
    running->mark = mark;
    if (mark == 0 || is_dependent(cluster) || running->is_put_off)
        return;
    uint64_t at_ns = running_done_ns(cluster, node, mark);
    at_ns = at_ns < running->ends_ns ? at_ns : running->ends_ns;
    work_schedule(cluster, &(struct future){
                               .at_ns = at_ns,
                               .rank = rank,
                               .type = EVENT_MARK,
                               .generation = running->generation,
                               .done = mark,
                           });
}

static uint64_t come_to_ns(const struct virtual_cluster *cluster, const struct running *running)
{
    return running->is_put_off ? running->put_off_ns : cluster->now_ns;
}

/* Returns how many iterations of the running chunk have begun, including the running iteration. This is at least the
 * number that was reported, even if the worker has become slower since the report. */
static uint64_t begun_iterations(const struct virtual_cluster *cluster, const struct node *node)
{
    const struct running *running = &node->running;
    uint64_t over = running->sliced < running->count ? running->sliced : running->count - 1, not_over = running->count;
    const uint64_t now_ns = come_to_ns(cluster, running);
    if (now_ns <= running->started_ns)
        return over + 1;
    while (not_over - over > 1) {
        uint64_t middle = over + (not_over - over) / 2;
        *(running_done_ns(cluster, node, middle) <= now_ns ? &over : &not_over) = middle;
    }
    return over + 1;
}

uint64_t work_iteration_end_ns(const struct virtual_cluster *cluster, unsigned rank)
{
    const struct node *node = &cluster->nodes[rank];
    const struct running *running = &node->running;
    if (running->ends_ns <= cluster->now_ns || is_dependent(cluster) || running->is_put_off)
        return cluster->now_ns;
    uint64_t end_ns = running_done_ns(cluster, node, begun_iterations(cluster, node));
    return end_ns < running->ends_ns ? end_ns : running->ends_ns;
}

uint64_t work_break_ns(const struct virtual_cluster *cluster, unsigned rank)
{
    const struct node *node = &cluster->nodes[rank];
    const struct running *running = &node->running;
    if (!running->is_on || running->ends_ns <= cluster->now_ns || running->started_ns >= cluster->now_ns)
        return cluster->now_ns;
    const double iteration_ns = (double)(running->ends_ns - running->started_ns) / (double)running->count;
    const uint64_t stride = break_stride(iteration_ns, cluster->config.spec.break_after);
    const uint64_t next = break_next(running->looked_at, begun_iterations(cluster, node), stride);
    const uint64_t break_ns = next < running->count ? running_done_ns(cluster, node, next) : running->ends_ns;
    return break_ns < running->ends_ns ? break_ns : running->ends_ns;
}

static void schedule_finished(struct virtual_cluster *cluster, unsigned rank)
{
    const struct running *running = &cluster->nodes[rank].running;
    work_schedule(cluster, &(struct future){.at_ns = running->ends_ns,
                                            .rank = rank,
                                            .type = EVENT_FINISHED,
                                            .generation = running->generation,
                                            .done = running->count});
}

/* Gives up a share of the next chunk. Gives up nothing if the running chunk has ended, even if the end is not reported
 * yet, because then the next chunk has begun. */
static struct range cut_next(const struct virtual_cluster *cluster, struct node *node, unsigned waiting)
{
    const bool has_begun = node->running.ends_ns <= cluster->now_ns;
    const uint64_t given = has_begun ? 0 : recall_share(node->next.run.count, 1, waiting);
    node->next.run.count -= given;
    return (struct range){node->next.run.first + node->next.run.count, given};
}

struct range work_cut(struct virtual_cluster *cluster, unsigned rank, unsigned waiting)
{
    struct node *node = &cluster->nodes[rank];
    struct running *running = &node->running;
    if (node->team != NULL)
        return threads_cut(cluster, rank, waiting);
    if (node->next.run.count > 0)
        return cut_next(cluster, node, waiting);
    uint64_t given = recall_share(running->count - begun_iterations(cluster, node), 1, waiting);
    const struct range cut = {running->first + running->count - given, given};
    if (given == 0)
        return cut;
    running->count -= given;
    uint64_t ends_ns = running_done_ns(cluster, node, running->count), now_ns = come_to_ns(cluster, running);
    running->ends_ns = ends_ns > now_ns ? ends_ns : now_ns;
    if (!running->is_put_off)
        schedule_finished(cluster, rank);
    return cut;
}

bool work_steal(struct virtual_cluster *cluster, unsigned rank, unsigned waiting, struct stolen *stolen)
{
    struct node *node = &cluster->nodes[rank];
    const struct running *running = &node->running;
    const bool computes = running->is_on && running->started_ns <= cluster->now_ns &&
                          running->ends_ns > cluster->now_ns && !running->is_put_off && !running->isolated;
    if (!cluster->config.steals || cluster->config.cuts_at_once || is_dependent(cluster) || node->team != NULL ||
        node->computing != NULL || !computes || node->next.run.count > 0 ||
        cluster->workers[node->worker].running.chunk == 0)
        return false;
    *stolen = (struct stolen){.range = work_cut(cluster, rank, waiting),
                              .chunk = cluster->workers[node->worker].running.chunk};
    if (stolen->range.count > 0)
        node->stolen = (struct range){stolen->range.first, node->stolen.count + stolen->range.count};
    return true;
}

#define END_NS 1000u

static void end_probe(struct virtual_cluster *cluster, unsigned rank)
{
    const struct speed speed = {.levels = 1, .elapsed_ns = {1000000}};
    cluster_schedule(cluster, &(struct future){.at_ns = cluster->now_ns + END_NS,
                                               .rank = rank,
                                               .type = EVENT_PROBED,
                                               .data = cluster_copy(cluster, &speed, sizeof speed)});
}

struct range work_end(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    struct running *running = &node->running;
    if (node->probe_ends_ns > cluster->now_ns && !is_dependent(cluster))
        end_probe(cluster, rank);
    if (node->team != NULL)
        return threads_cut(cluster, rank, RECALL_ALL);
    if (running->ends_ns <= cluster->now_ns && !running->is_put_off)
        return (struct range){0};
    const uint64_t done = begun_iterations(cluster, node) - 1, given = running->count - done;
    running->count = done;
    running->ends_ns = cluster->now_ns;
    cluster_schedule(cluster, &(struct future){.at_ns = cluster->now_ns + END_NS,
                                               .rank = rank,
                                               .type = EVENT_FINISHED,
                                               .generation = running->generation,
                                               .done = done});
    if (cluster->ranks != NULL)
        ranks_give_up_chunk(cluster, rank);
    return (struct range){running->first + done, given};
}

static enum virtual_outcome outcome_of(const struct virtual_cluster *cluster, unsigned rank, uint64_t iteration)
{
    const struct virtual_config *config = &cluster->config;
    return config->outcome != NULL ? config->outcome(config->context, rank, iteration) : VIRTUAL_WORKS;
}

static void schedule_failures(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    const struct running *running = &node->running;
    enum virtual_outcome outcome = VIRTUAL_WORKS;
    for (uint64_t i = running->sliced; cluster->config.outcome != NULL && i < running->count; i++) {
        outcome = outcome_of(cluster, rank, running->first + i);
        if (outcome == VIRTUAL_WORKS || outcome == VIRTUAL_IS_CALLED_FAILED)
            continue;
        bool kills = outcome != VIRTUAL_FAILS;
        uint64_t at_ns = running_done_ns(cluster, node, i + 1);
        work_schedule(cluster, &(struct future){
                                   .at_ns = at_ns < running->ends_ns ? at_ns : running->ends_ns,
                                   .rank = rank,
                                   .type = EVENT_ITERATIONS_FAILED,
                                   .generation = running->generation,
                                   .done = i + 1,
                                   .text = kills ? "killed the child process" : "iteration\tfailed",
                                   .lost = kills,
                                   .spares = outcome == VIRTUAL_KILLS_HELPER,
                               });
        if (outcome == VIRTUAL_CRASHES && !running->isolated)
            return;
    }
}

static bool is_in_time(const struct virtual_cluster *cluster, uint64_t iteration)
{
    const struct virtual_config *config = &cluster->config;
    const struct ledger *ledger = &cluster->supermaster.ledger;
    uint64_t before = config->step_iterations > 0
                          ? (iteration - config->first) / config->step_iterations * config->step_iterations
                          : 0;
    return ledger->done + ranges_total(&ledger->failed) >= before;
}

static bool is_behind_others(const struct virtual_cluster *cluster, uint64_t first, uint64_t count)
{
    const struct virtual_config *config = &cluster->config;
    const struct precedence *others = &cluster->others;
    if (config->precedence == NULL)
        return true;
    for (uint64_t i = first - config->first; i < first - config->first + count; i++)
        for (uint64_t k = others->begin[i]; k < others->begin[i + 1]; k++) {
            const uint64_t other = config->first + others->waiting[k];
            const bool was_done = config->done != NULL && ranges_contains(config->done, other);
            const bool is_stored = !config->collect || cluster->written[others->waiting[k]] > 0 || was_done;
            if (!is_stored || outcome_of(cluster, 0, other) == VIRTUAL_IS_CALLED_FAILED)
                return false;
        }
    return true;
}

static void schedule_called_failed(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    const struct running *running = &node->running;
    struct future future = {.rank = rank, .type = EVENT_SLICE, .generation = running->generation};
    for (uint64_t i = running->sliced; cluster->config.outcome != NULL && i < running->count; i++) {
        if (outcome_of(cluster, rank, running->first + i) != VIRTUAL_IS_CALLED_FAILED)
            continue;
        for (future.done = i > 0 ? i : 1; future.done <= i + 1; future.done++) {
            future.at_ns = running_done_ns(cluster, node, future.done);
            if (future.done < running->count)
                work_schedule(cluster, &future);
        }
    }
}

uint64_t work_slice(const struct virtual_cluster *cluster)
{
    const struct virtual_config *config = &cluster->config;
    if (config->phantom_bytes > 0)
        return config->phantom_bytes < SLICE_MAX ? SLICE_MAX / config->phantom_bytes : 1;
    return config->collect ? config->slice_iterations : 0;
}

/* Spread of the times of kernel calls. For nine in ten real calls, the time differs from the median by less than this
 * fraction of the median. */
#define CALL_SPREAD 0.7

static double work_call_ns(const struct virtual_cluster *cluster, unsigned rank, uint64_t begins_ns)
{
    const struct running *before = &cluster->nodes[rank].running;
    const uint64_t seed = cluster->config.order_seed, chunk = (uint64_t)rank << 40 ^ before->generation;
    double call_ns =
        virtual_call_ns(&cluster->config, before->generation > 0 ? (double)before->started_ns : -1, (double)begins_ns);
    return seed == 0 ? call_ns : call_ns * (1 + CALL_SPREAD * (2 * random_to_uniform(random_at(seed + 2, chunk)) - 1));
}

static void schedule_chunk(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    const struct running *running = &node->running;
    const uint64_t slice = work_slice(cluster);
    struct future future = {.rank = rank, .type = EVENT_SLICE, .generation = running->generation};
    work_mark(cluster, rank, running->mark);
    schedule_failures(cluster, rank);
    schedule_called_failed(cluster, rank);
    for (future.done = slice; slice > 0 && future.done < running->count; future.done += slice) {
        future.at_ns = running_done_ns(cluster, node, future.done);
        if (future.done > running->sliced)
            work_schedule(cluster, &future);
    }
    schedule_finished(cluster, rank);
}

static void begin_chunk(struct virtual_cluster *cluster, unsigned rank, const struct action *action, uint64_t begins_ns)
{
    struct node *node = &cluster->nodes[rank];
    node->running = (struct running){
        .first = action->run.first,
        .count = action->run.count,
        .started_ns = begins_ns,
        .call_ns = work_call_ns(cluster, rank, begins_ns),
        .isolated = action->run.isolated,
        .is_on = true,
        .generation = node->running.generation + 1,
        .mark = action->run.mark,
        .is_put_off = cluster->ranks != NULL,
        .put_off_ns = begins_ns,
        .until_ns = NEVER,
    };
    node->running.ends_ns = running_done_ns(cluster, node, node->running.count);
    if (cluster->ranks != NULL)
        ranks_begin_chunk(cluster, rank);
    else
        schedule_chunk(cluster, rank);
}

void work_delay(struct virtual_cluster *cluster, unsigned rank, uint64_t served_ns)
{
    struct node *node = &cluster->nodes[rank];
    struct running *running = &node->running;
    if (!running->is_on || running->ends_ns <= cluster->now_ns)
        return;
    const bool begins = running->started_ns >= cluster->now_ns;
    if (!begins)
        running->looked_at = begun_iterations(cluster, node) - 1;
    const uint64_t begun_ns = running->started_ns;
    running->started_ns = begins ? cluster->now_ns + served_ns : begun_ns + served_ns;
    running->ends_ns += running->started_ns - begun_ns;
    running->generation++;
    schedule_chunk(cluster, rank);
}

void work_begin(struct virtual_cluster *cluster, unsigned rank, const struct action *action, uint64_t later_ns)
{
    struct node *node = &cluster->nodes[rank];
    if (is_dependent(cluster)) {
        dependent_begin(cluster, rank, action);
        return;
    }
    cluster->result.too_early +=
        !is_in_time(cluster, action->run.first) || !is_behind_others(cluster, action->run.first, action->run.count);
    if (node->team != NULL) {
        threads_begin(cluster, rank, action, cluster->now_ns + later_ns);
        return;
    }
    assert((!node->running.is_on || (cluster->config.begins_ahead && node->next.run.count == 0)) &&
           "one chunk runs, and one begins ahead");
    if (node->running.is_on)
        node->next = *action;
    else
        begin_chunk(cluster, rank, action, cluster->now_ns + later_ns);
}

void work_take_next(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    const struct action next = node->next;
    node->running.is_on = false;
    node->next.run.count = 0;
    if (next.run.count > 0)
        begin_chunk(cluster, rank, &next, node->running.ends_ns);
}

void work_put_off(struct virtual_cluster *cluster, unsigned rank)
{
    struct running *running = &cluster->nodes[rank].running;
    running->is_put_off = true;
    running->put_off_ns = cluster->now_ns;
    running->generation++;
}

uint64_t work_limit_turn(struct virtual_cluster *cluster, unsigned rank, uint64_t at_ns)
{
    struct node *node = &cluster->nodes[rank];
    struct running *running = &node->running;
    uint64_t before = running->sliced < running->count ? running->sliced : running->count - 1, behind = running->count;
    while (behind - before > 1) {
        uint64_t middle = before + (behind - before) / 2;
        *(running_done_ns(cluster, node, middle) < at_ns ? &before : &behind) = middle;
    }
    running->until_ns = behind < running->count ? running_done_ns(cluster, node, behind) : NEVER;
    return running->until_ns;
}

uint64_t work_go_on(struct virtual_cluster *cluster, unsigned rank, uint64_t turn_ns)
{
    struct node *node = &cluster->nodes[rank];
    struct running *running = &node->running;
    const uint64_t now_ns = cluster->now_ns;
    const uint64_t pause_ns = now_ns > running->put_off_ns ? now_ns - running->put_off_ns : 0;
    running->started_ns += pause_ns;
    running->ends_ns += pause_ns;
    running->is_put_off = false;
    running->until_ns = NEVER;
    if (turn_ns != NEVER)
        work_limit_turn(cluster, rank, now_ns + turn_ns);
    schedule_chunk(cluster, rank);
    return running->until_ns;
}

void work_probe(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    struct probe probe;
    double cost = 0;
    machines_begin_probe(&cluster->config, &probe);
    for (uint64_t count; (count = probe_next(&probe)) > 0;) {
        double began = core_time_of(node, cluster->now_ns, cost), last = began;
        for (uint64_t k = probe.done; k < probe.done + count; k++) {
            cost += virtual_probed_ns(&cluster->config, iteration_cost(cluster, probe_iteration(&probe, k)));
            double now = core_time_of(node, cluster->now_ns, cost);
            probe_add_single(&probe, k, now - last);
            last = now;
        }
        probe_add(&probe, count, (uint64_t)last - (uint64_t)began);
    }
    struct speed speed = {0};
    probe_finish(&probe, &speed);
    if (node->team != NULL)
        speed_share(&speed, node->team->model.threads);
    node->probe_ends_ns = cluster->now_ns + probe.elapsed_ns;
    cluster_schedule(cluster, &(struct future){.at_ns = cluster->now_ns + probe.elapsed_ns,
                                               .rank = rank,
                                               .type = EVENT_PROBED,
                                               .data = cluster_copy(cluster, &speed, sizeof speed)});
}

void work_time_pieces(const struct virtual_cluster *cluster, const struct node *node, struct chunk_event *chunk)
{
    const struct running *running = &node->running;
    struct spread spread = {0};
    double iteration_ns = (double)chunk->compute_ns / (double)running->count, cost = running->call_ns, before = 0;
    for (uint64_t done = 0, piece; done < running->count; done += piece) {
        piece = spread_piece(running->count, running->count - done, iteration_ns);
        if (cluster->config.costs_ns != NULL)
            cost += work_range_cost(cluster, running->first + done, piece);
        for (uint64_t i = 0; cluster->config.costs_ns == NULL && i < piece; i++)
            cost += iteration_cost(cluster, running->first + done + i);
        double now = work_time_ns(cluster, node, running->started_ns, cost);
        spread_add(&spread, piece, now - before);
        before = now;
    }
    chunk->deviation_ns = spread_deviation_ns(&spread);
    chunk->samples = (uint32_t)spread.pieces;
}
