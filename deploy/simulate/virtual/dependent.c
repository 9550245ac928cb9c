/* SPDX-License-Identifier: MIT */
/* Chunks of a loop with dependencies: values, steps, and waiting for boundary data.
 *
 * A column is one position of the synchronization dimension. The values in a column depend on earlier rows. The last
 * `distance` values of each column are the boundary data. The record of a row combines its values in the order of
 * columns. So the records of a chunk are incomplete until the last step of the chunk is done. */
#include "deploy/simulate/virtual/inside.h"
#include "common/config/run_spec.h"
#include "common/util/random.h"
#include "deploy/simulate/virtual/columns.h"
#include "deploy/simulate/virtual/machines.h"

#include <stdlib.h>
#include <string.h>

static uint64_t virtual_dependent_end_of(const struct virtual_config *config)
{
    return config->first + config->count;
}

static void begin_column(const struct virtual_config *config, uint64_t column, uint64_t *window)
{
    for (uint64_t i = 0; i < columns_distance(config); i++)
        window[i] = random_at(column, i);
}

static void go_down(const struct virtual_config *config, uint64_t column, uint64_t first, uint64_t count,
                    uint64_t *window, uint64_t *records)
{
    uint64_t last = columns_distance(config) - 1;
    for (uint64_t i = 0; i < count && !config->undigested; i++) {
        uint64_t value = random_at(window[last] + 3 * window[0], (first + i) * config->columns + column);
        memmove(window, window + 1, last * sizeof *window);
        window[last] = value;
        records[i] = random_at(records[i], value);
    }
}

static uint64_t *compute_serially(const struct virtual_config *config)
{
    uint64_t *records = calloc(config->count + 1, sizeof *records);
    uint64_t *window = calloc(columns_distance(config), sizeof *window);
    for (uint64_t column = 0; records != NULL && window != NULL && column < config->columns; column++) {
        begin_column(config, column, window);
        go_down(config, column, config->first, config->count, window, records);
    }
    if (window == NULL) {
        free(records);
        return NULL;
    }
    free(window);
    return records;
}

uint64_t virtual_serial_checksum(const struct virtual_config *config)
{
    uint64_t *records = compute_serially(config), sum = 0;
    for (uint64_t i = 0; records != NULL && i < config->count; i++)
        sum += store_digest_of(config->first + i, records[i]);
    free(records);
    return sum;
}

int dependent_init(struct virtual_cluster *cluster)
{
    if (!is_dependent(cluster))
        return 0;
    cluster->pipelines = calloc(cluster_ranks(&cluster->config), sizeof *cluster->pipelines);
    for (unsigned rank = 0; cluster->pipelines != NULL && rank < cluster_ranks(&cluster->config); rank++) {
        struct pipeline *pipeline = cluster->nodes[rank].pipeline = &cluster->pipelines[rank];
        pipeline->window = calloc(columns_distance(&cluster->config), sizeof *pipeline->window);
        if (pipeline->window == NULL)
            return -1;
    }
    cluster->expected = compute_serially(&cluster->config);
    return cluster->pipelines != NULL && cluster->expected != NULL ? 0 : -1;
}

static struct halo **virtual_dependent_find_halo(struct halo **list, uint64_t boundary_at)
{
    while (*list != NULL && (*list)->boundary_at != boundary_at)
        list = &(*list)->next;
    return list;
}

static struct halo *add_halo(struct virtual_cluster *cluster, struct halo **list, uint64_t boundary_at)
{
    struct halo *halo = calloc(1, sizeof *halo + machines_boundary_bytes(&cluster->config));
    if (halo == NULL) {
        cluster->out_of_memory = true;
        return NULL;
    }
    halo->boundary_at = boundary_at;
    halo->next = *list;
    *list = halo;
    return halo;
}

static struct halo *virtual_dependent_take_halo(struct halo **list, uint64_t boundary_at)
{
    struct halo **place = virtual_dependent_find_halo(list, boundary_at), *halo = *place;
    if (halo != NULL)
        *place = halo->next;
    return halo;
}

static void free_halos(struct halo *list)
{
    for (struct halo *next; list != NULL; list = next) {
        next = list->next;
        free(list);
    }
}

void dependent_fini(struct virtual_cluster *cluster)
{
    free(cluster->expected);
    for (unsigned rank = 0; cluster->pipelines != NULL && rank < cluster_ranks(&cluster->config); rank++) {
        struct pipeline *pipeline = &cluster->pipelines[rank];
        free_halos(pipeline->received);
        free_halos(pipeline->kept);
        free(pipeline->records);
        free(pipeline->window);
    }
    free(cluster->pipelines);
}

static bool virtual_dependent_may_begin(const struct virtual_cluster *cluster, const struct node *node)
{
    const struct pipeline *pipeline = node->pipeline;
    return pipeline->before == NULL ||
           pipeline->before->filled >= columns_needed(&cluster->config, pipeline->step, node->running.count);
}

static void virtual_dependent_begin_step(struct virtual_cluster *cluster, unsigned rank)
{
    struct node *node = &cluster->nodes[rank];
    struct pipeline *pipeline = node->pipeline;
    const struct running *running = &node->running;
    pipeline->waits = !virtual_dependent_may_begin(cluster, node);
    if (pipeline->waits)
        return;
    const double calls_ns = cluster->config.call_ns * (double)pipeline->steps;
    pipeline->step_ns =
        work_ns(cluster, node, cluster->now_ns, calls_ns, running->first, running->count) / pipeline->steps;
    pipeline->step_ends_ns = cluster->now_ns + pipeline->step_ns;
    cluster_schedule(cluster, &(struct future){
                                  .at_ns = pipeline->step_ends_ns,
                                  .rank = rank,
                                  .type = EVENT_BOUNDARY_READY,
                                  .generation = running->generation,
                              });
}

void dependent_slow(struct virtual_cluster *cluster, unsigned rank, double factor)
{
    struct pipeline *pipeline = cluster->nodes[rank].pipeline;
    if (pipeline->step_ends_ns <= cluster->now_ns)
        return;
    uint64_t left_ns = pipeline->step_ends_ns - cluster->now_ns, later_ns = (uint64_t)((double)left_ns * factor);
    pipeline->step_ns += later_ns - left_ns;
    pipeline->step_ends_ns = cluster->now_ns + later_ns;
}

static void find_ready(struct virtual_cluster *cluster, unsigned rank)
{
    const struct virtual_config *config = &cluster->config;
    struct pipeline *pipeline = cluster->nodes[rank].pipeline;
    const struct running *running = &cluster->nodes[rank].running;
    uint64_t end = running->first + running->count;
    pipeline->before = *virtual_dependent_find_halo(&pipeline->received, running->first);
    if (pipeline->before == NULL && running->first > config->first)
        pipeline->before = add_halo(cluster, &pipeline->received, running->first);
    pipeline->after = end < virtual_dependent_end_of(config) ? add_halo(cluster, &pipeline->kept, end) : NULL;
    cluster->result.misled += pipeline->after != NULL && running->count < columns_distance(config);
}

void dependent_begin(struct virtual_cluster *cluster, unsigned rank, const struct action *action)
{
    struct node *node = &cluster->nodes[rank];
    struct pipeline *pipeline = node->pipeline;
    cluster->result.misled += pipeline->runs;
    node->running = (struct running){
        .first = action->run.first,
        .count = action->run.count,
        .started_ns = cluster->now_ns,
        .ends_ns = cluster->now_ns,
        .generation = node->running.generation + 1,
    };
    free(pipeline->records);
    pipeline->records = calloc(action->run.count + 1, sizeof *pipeline->records);
    cluster->out_of_memory |= pipeline->records == NULL;
    pipeline->step = pipeline->compute_ns = 0;
    pipeline->steps = columns_steps(&cluster->config);
    pipeline->mark = action->run.mark;
    pipeline->runs = true;
    find_ready(cluster, rank);
    if (!cluster->out_of_memory)
        virtual_dependent_begin_step(cluster, rank);
}

static void compute_step(struct virtual_cluster *cluster, struct node *node)
{
    const struct virtual_config *config = &cluster->config;
    struct pipeline *pipeline = node->pipeline;
    uint64_t distance = columns_distance(config);
    for (uint64_t column = columns_behind(config, pipeline->step); column < columns_behind(config, pipeline->step + 1);
         column++) {
        if (pipeline->before != NULL)
            memcpy(pipeline->window, &pipeline->before->values[column * distance], distance * sizeof(uint64_t));
        else
            begin_column(config, column, pipeline->window);
        go_down(config, column, node->running.first, node->running.count, pipeline->window, pipeline->records);
        if (pipeline->after != NULL)
            memcpy(&pipeline->after->values[column * distance], pipeline->window, distance * sizeof(uint64_t));
    }
}

static void tell_mark(struct virtual_cluster *cluster, unsigned rank, const struct event *event)
{
    struct node *node = &cluster->nodes[rank];
    struct pipeline *pipeline = node->pipeline;
    struct event mark = *event;
    uint64_t done = node->running.count * pipeline->step / pipeline->steps;
    if (pipeline->mark == 0 || done < pipeline->mark || pipeline->step == pipeline->steps)
        return;
    mark.type = EVENT_MARK;
    mark.chunk = (struct chunk_event){.done = done, .compute_ns = pipeline->compute_ns};
    pipeline->mark = 0;
    cluster_step(cluster, rank, &mark, NULL);
}

static void virtual_dependent_tell_ready(struct virtual_cluster *cluster, unsigned rank, struct event *event)
{
    struct pipeline *pipeline = cluster->nodes[rank].pipeline;
    struct halo *after = pipeline->after;
    if (after == NULL)
        return;
    after->filled = columns_bytes(&cluster->config, columns_behind(&cluster->config, pipeline->step));
    event->ready = (struct boundary_ready){after->boundary_at, after->values, after->filled};
    cluster_step(cluster, rank, event, NULL);
}

static void virtual_dependent_tell_results(struct virtual_cluster *cluster, unsigned rank, enum event_type type,
                                           uint64_t count, const uint64_t *records, struct event *event)
{
    struct node *node = &cluster->nodes[rank];
    const struct pipeline *pipeline = node->pipeline;
    uint64_t sliced = node->running.sliced;
    event->type = type;
    event->chunk = (struct chunk_event){.done = sliced + count,
                                        .compute_ns = pipeline->compute_ns,
                                        .count = count,
                                        .began_ns = node->running.started_ns};
    for (uint64_t i = sliced; i < sliced + count; i++)
        event->chunk.digest += store_digest_of(node->running.first + i, records[i]);
    if (count == 0) {
        event->chunk.data = NULL;
    } else if (cluster->config.collect) {
        event->chunk.data = records + sliced;
        event->chunk.bytes = count * RECORD_BYTES;
    } else if (cluster->config.phantom_bytes > 0) {
        event->chunk.data = cluster_phantom_bytes;
        event->chunk.bytes = count * cluster->config.phantom_bytes;
    }
    if (type == EVENT_FINISHED && run_spec_learns(&cluster->config.spec))
        work_time_pieces(cluster, node, &event->chunk);
    cluster->result.executed += count;
    node->running.sliced += count;
    cluster_step(cluster, rank, event, NULL);
}

/* Reports each row of the chunk that has killed its helper. The same worker has then retried the row with success. The
 * only exception is the last row of the loop if it crashes every time (VIRTUAL_CRASHES). Returns true in that case. */
static bool tell_deaths(struct virtual_cluster *cluster, unsigned rank, const struct event *event)
{
    const struct virtual_config *config = &cluster->config;
    struct node *node = &cluster->nodes[rank];
    bool is_given_up = false;
    for (uint64_t i = 0; config->outcome != NULL && i < node->running.count && !node->gone; i++) {
        const uint64_t row = node->running.first + i;
        enum virtual_outcome outcome = config->outcome(config->context, rank, row);
        struct event death = *event;
        if (outcome == VIRTUAL_WORKS)
            continue;
        is_given_up = outcome == VIRTUAL_CRASHES && row + 1 == virtual_dependent_end_of(config);
        if (is_given_up)
            break;
        death.type = EVENT_ITERATIONS_FAILED;
        death.text = "killed the child process";
        death.chunk = (struct chunk_event){.first = row, .count = 1, .died = true};
        cluster_step(cluster, rank, &death, NULL);
    }
    return is_given_up;
}

/* Gives up the last row of the chunk, and reports the rows before it. If the chunk is not longer than the distance, the
 * whole chunk is given up. */
static void give_up_last(struct virtual_cluster *cluster, unsigned rank, const uint64_t *records,
                         const struct event *event)
{
    struct node *node = &cluster->nodes[rank];
    const uint64_t lost = node->running.count > columns_distance(&cluster->config) ? 1 : node->running.count;
    const uint64_t rest = node->running.count - lost - node->running.sliced;
    struct event slice = *event, death = *event;
    if (rest > 0)
        virtual_dependent_tell_results(cluster, rank, EVENT_SLICE, rest, records, &slice);
    if (node->gone)
        return;
    death.type = EVENT_ITERATIONS_FAILED;
    death.text = "killed the child process";
    death.chunk = (struct chunk_event){
        .first = node->running.first + node->running.count - lost, .count = lost, .final = true, .died = true};
    node->running.sliced += lost;
    cluster_step(cluster, rank, &death, NULL);
}

static void virtual_dependent_finish(struct virtual_cluster *cluster, unsigned rank, struct event *event)
{
    struct node *node = &cluster->nodes[rank];
    struct pipeline *pipeline = node->pipeline;
    uint64_t slice = work_slice(cluster), *records = pipeline->records;
    if (tell_deaths(cluster, rank, event) && !node->gone)
        give_up_last(cluster, rank, records, event);
    while (slice > 0 && node->running.count - node->running.sliced > slice && !node->gone)
        virtual_dependent_tell_results(cluster, rank, EVENT_SLICE, slice, records, event);
    free(virtual_dependent_take_halo(&pipeline->received, node->running.first));
    pipeline->before = NULL;
    pipeline->records = NULL; /* reset before the report, because cluster_step() may begin the next chunk */
    pipeline->runs = false;
    if (!node->gone)
        virtual_dependent_tell_results(cluster, rank, EVENT_FINISHED, node->running.count - node->running.sliced,
                                       records, event);
    free(records);
}

void dependent_end_step(struct virtual_cluster *cluster, unsigned rank, struct event *event)
{
    struct node *node = &cluster->nodes[rank];
    struct pipeline *pipeline = node->pipeline;
    compute_step(cluster, node);
    pipeline->compute_ns += pipeline->step_ns;
    pipeline->step++;
    virtual_dependent_tell_ready(cluster, rank, event);
    if (!node->gone)
        tell_mark(cluster, rank, event);
    if (node->gone)
        return;
    if (pipeline->step < pipeline->steps)
        virtual_dependent_begin_step(cluster, rank);
    else
        virtual_dependent_finish(cluster, rank, event);
}

void dependent_fill(struct virtual_cluster *cluster, unsigned rank, const struct action *action, const void *data)
{
    struct node *node = &cluster->nodes[rank];
    struct pipeline *pipeline = node->pipeline;
    uint64_t first = action->boundary.first, offset = action->boundary.offset, bytes = action->boundary.bytes;
    struct halo *halo = *virtual_dependent_find_halo(&pipeline->received, first);
    if (halo == NULL)
        halo = add_halo(cluster, &pipeline->received, first);
    const void *from = action->boundary.data != NULL ? action->boundary.data : data;
    if (halo == NULL || from == NULL || offset != halo->filled ||
        bytes > machines_boundary_bytes(&cluster->config) - offset) {
        cluster->result.misled++;
        return;
    }
    memcpy((unsigned char *)halo->values + offset, from, bytes);
    halo->filled += bytes;
    if (pipeline->runs && pipeline->waits && node->running.first == first)
        virtual_dependent_begin_step(cluster, rank);
}

void dependent_reuse(struct virtual_cluster *cluster, unsigned rank, uint64_t boundary_at)
{
    struct pipeline *pipeline = cluster->nodes[rank].pipeline;
    struct halo *halo = virtual_dependent_take_halo(&pipeline->kept, boundary_at);
    if (halo == NULL || halo->filled < machines_boundary_bytes(&cluster->config) || pipeline->runs) {
        cluster->result.misled++;
        free(halo);
        return;
    }
    cluster->result.reused++;
    halo->next = pipeline->received;
    pipeline->received = halo;
}

void dependent_release(struct virtual_cluster *cluster, unsigned rank, uint64_t boundary_at)
{
    struct pipeline *pipeline = cluster->nodes[rank].pipeline;
    struct halo *halo = virtual_dependent_take_halo(&pipeline->kept, boundary_at);
    cluster->result.misled += halo == NULL || halo->filled < machines_boundary_bytes(&cluster->config) ||
                              (halo == pipeline->after && pipeline->runs);
    free(halo);
}
