/* SPDX-License-Identifier: MIT */
/* Figures of a run: see figures.h. They are those of common/metrics/report.h: the loop begins with the first assignment
 * and ends when the last result is stored. */
#include "deploy/cli/report/figures.h"

#include "common/util/stats.h"
#include "deploy/cli/report/gantt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void figures_init(struct figures *figures)
{
    *figures = (struct figures){.iterations = TRACE_UNKNOWN,
                                .elapsed_s = NAN,
                                .startup_s = NAN,
                                .efficiency = NAN,
                                .percent = NAN,
                                .busy_percent = NAN,
                                .busy_cov = NAN,
                                .cost_s = NAN,
                                .scheduling_s = NAN,
                                .idle_s = NAN,
                                .in_vain_s = NAN,
                                .tail_s = NAN,
                                .tail_idle = NAN,
                                .latency_median_s = NAN,
                                .chunk_median_s = NAN,
                                .messages = TRACE_UNKNOWN,
                                .bytes_on_wire = TRACE_UNKNOWN,
                                .refills = TRACE_UNKNOWN};
}

void figures_fini(struct figures *figures)
{
    for (unsigned i = 0; figures->worker_stats != NULL && i < figures->workers; i++)
        free(figures->worker_stats[i].host);
    free(figures->worker_stats);
    free(figures->version);
    free(figures->kernel);
    free(figures->technique);
    free(figures->topology);
    free(figures->outcome);
    free(figures->origin);
    free(figures->checksum);
    for (size_t i = 0; i < figures->predicted.count; i++)
        free(figures->predicted.list[i].technique);
    free(figures->predicted.list);
    free(figures->simulation.backend);
    free(figures->simulation.platform);
    figures_init(figures);
}

static int figures_no_memory(struct error *error)
{
    return error_set(error, "out of memory");
}

/* --- of a trace --- */

/* Copies what may be NULL; false when memory is out. */
static bool copy_fact(char **to, const char *from)
{
    *to = from != NULL ? strdup(from) : NULL;
    return from == NULL || *to != NULL;
}

static int copy_facts(struct figures *figures, const struct run_trace *trace, struct error *error)
{
    const struct run_facts *facts = &trace->facts;
    figures->iterations = facts->iterations;
    figures->masters = facts->masters == TRACE_UNKNOWN ? 0 : (unsigned)facts->masters;
    figures->workers = (unsigned)trace->worker_count;
    figures->worker_stats = calloc(trace->worker_count + 1, sizeof *figures->worker_stats);
    bool ok = figures->worker_stats != NULL && copy_fact(&figures->version, facts->version) &&
              copy_fact(&figures->kernel, facts->kernel) && copy_fact(&figures->technique, facts->technique) &&
              copy_fact(&figures->origin, facts->origin);
    for (size_t i = 0; ok && i < trace->worker_count; i++) {
        const struct run_worker *worker = &trace->workers[i];
        struct figures_worker *stats = &figures->worker_stats[i];
        *stats = (struct figures_worker){.rank = worker->rank,
                                         .node = worker->node,
                                         .master = worker->master,
                                         .power = worker->power,
                                         .is_lost = !isnan(worker->lost_s)};
        figures->lost_workers += stats->is_lost;
        figures->nodes += i == 0 || worker[-1].node != worker->node;
        ok = copy_fact(&stats->host, worker->host);
    }
    return ok ? 0 : figures_no_memory(error);
}

/* The time that the kernel took: as it was measured, else from beginning to end. */
static double figures_compute_s(const struct run_chunk *chunk, double from_s, double to_s)
{
    return isnan(chunk->compute_s) ? to_s - from_s : chunk->compute_s;
}

/* Adds a chunk to the sums. Returns the time at which its results were there, 0 for none. */
static double add_chunk(struct figures *figures, struct figures_worker *worker, const struct run_trace *trace,
                        const struct run_chunk *chunk, double end_s)
{
    double from_s, to_s;
    const bool has_begun = run_chunk_span(trace, chunk, end_s, &from_s, &to_s);
    const double compute_s = has_begun ? figures_compute_s(chunk, from_s, to_s) : 0;
    figures->reasons[chunk->reason] += !chunk->is_part;
    figures->chunks += !chunk->is_part;
    figures->fates[chunk->fate]++;
    figures->duplicates += chunk->fate == TRACE_DROPPED && chunk->reason != TRACE_VERIFY;
    if (gantt_class_of(chunk->reason, chunk->fate) == GANTT_IN_VAIN)
        figures->in_vain_s += compute_s;
    else if (chunk->reason == TRACE_VERIFY)
        figures->verify_s += compute_s;
    if (chunk->fate != TRACE_DONE)
        return 0;
    worker->compute_s += compute_s;
    worker->finish_s = has_begun ? fmax(worker->finish_s, to_s) : worker->finish_s;
    worker->chunks += !chunk->is_part;
    if (chunk->reason != TRACE_VERIFY) {
        worker->iterations += chunk->count;
        figures->done += chunk->count;
    }
    return isnan(chunk->stored_s) ? worker->finish_s : fmax(worker->finish_s, chunk->stored_s);
}

/* The spread of the finishing times, and the tail. Lost workers have no part in the tail: they had not finished. */
static void figures_finish(struct figures *figures)
{
    struct stats finish;
    double first_s = INFINITY, idle_s = 0;
    stats_init(&finish);
    for (unsigned i = 0; i < figures->workers; i++) {
        const struct figures_worker *worker = &figures->worker_stats[i];
        stats_add(&finish, worker->finish_s);
        if (worker->is_lost || worker->finish_s <= 0)
            continue;
        first_s = fmin(first_s, worker->finish_s);
        idle_s += fmax(0, figures->elapsed_s - worker->finish_s);
    }
    const double capacity_s = figures->elapsed_s * figures->workers;
    figures->max_over_mean = finish.mean > 0 ? finish.maximum / finish.mean : 1;
    figures->cov = stats_cov(&finish);
    figures->tail_s = isfinite(first_s) ? fmax(0, figures->elapsed_s - first_s) : NAN;
    figures->tail_idle = capacity_s > 0 ? idle_s / capacity_s : NAN;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value that a share of them does not exceed; NAN for none. */
static double quantile_of(const double *sorted, size_t count, double share)
{
    return count > 0 ? sorted[(size_t)ceil(share * (double)count) - 1] : NAN;
}

/* As report_compute() has it: 100 (max - mean) / max * n / (n - 1). */
static double percent_imbalance(const struct stats *times)
{
    const double count = (double)times->count;
    return times->count > 1 && times->maximum > 0 ? 100 * (1 - times->mean / times->maximum) * count / (count - 1) : 0;
}

/* The figures of merit of the workers: those of a report, by the same definitions. Lost workers have no part in the
 * overhead: what they would have done is not known. */
static void figures_merit(struct figures *figures)
{
    struct stats finish, busy, scheduling, idle;
    stats_init(&finish);
    stats_init(&busy);
    stats_init(&scheduling);
    stats_init(&idle);
    for (unsigned i = 0; i < figures->workers; i++) {
        const struct figures_worker *worker = &figures->worker_stats[i];
        stats_add(&finish, worker->finish_s);
        stats_add(&busy, worker->compute_s);
        if (worker->is_lost)
            continue;
        stats_add(&scheduling, fmax(0, worker->finish_s - worker->compute_s));
        stats_add(&idle, fmax(0, figures->elapsed_s - worker->finish_s));
    }
    figures->percent = percent_imbalance(&finish);
    figures->busy_percent = percent_imbalance(&busy);
    figures->busy_cov = stats_cov(&busy);
    figures->cost_s = figures->elapsed_s * figures->workers;
    figures->scheduling_s = scheduling.mean;
    figures->idle_s = idle.mean;
}

/* Half and nearly all of the chunks: how long they were waited for, and computed. */
static int figures_quantiles(struct figures *figures, const struct run_trace *trace, struct error *error)
{
    double *values = malloc((trace->chunk_count + 1) * sizeof *values);
    size_t count = 0;
    if (values == NULL)
        return figures_no_memory(error);
    for (size_t i = 0; i < trace->chunk_count; i++)
        if (!isnan(trace->chunks[i].asked_s) && !trace->chunks[i].is_part)
            values[count++] = fmax(0, trace->chunks[i].given_s - trace->chunks[i].asked_s);
    qsort(values, count, sizeof *values, by_value);
    figures->latency_median_s = quantile_of(values, count, 0.5);
    figures->latency_high_s = quantile_of(values, count, 0.95);
    count = 0;
    for (size_t i = 0; i < trace->chunk_count; i++)
        if (trace->chunks[i].fate == TRACE_DONE && !isnan(trace->chunks[i].compute_s) && !trace->chunks[i].is_part)
            values[count++] = trace->chunks[i].compute_s;
    qsort(values, count, sizeof *values, by_value);
    figures->chunk_median_s = quantile_of(values, count, 0.5);
    figures->chunk_high_s = quantile_of(values, count, 0.95);
    free(values);
    return 0;
}

int figures_of_trace(struct figures *figures, const struct run_trace *trace, struct error *error)
{
    const double end_s = run_trace_end(trace);
    double begin_s = INFINITY, last_s = 0;
    if (copy_facts(figures, trace, error) < 0)
        return -1;
    figures->has_trace = true;
    figures->steps = trace->cut_count;
    figures->in_vain_s = 0;
    for (size_t i = 0; i < trace->chunk_count; i++) {
        const struct run_chunk *chunk = &trace->chunks[i];
        begin_s = fmin(begin_s, chunk->given_s);
        last_s = fmax(last_s, add_chunk(figures, &figures->worker_stats[chunk->worker], trace, chunk, end_s));
    }
    for (size_t i = 0; i < trace->resumed_count; i++)
        figures->resumed += trace->resumed[i].count;
    figures->done += figures->resumed;
    figures->begin_s = isfinite(begin_s) ? begin_s : 0;
    figures->elapsed_s = fmax(0, last_s - figures->begin_s);
    for (unsigned i = 0; i < figures->workers; i++) {
        struct figures_worker *worker = &figures->worker_stats[i];
        worker->finish_s = fmax(0, worker->finish_s - figures->begin_s);
        const double there_s = worker->is_lost ? trace->workers[i].lost_s - figures->begin_s : figures->elapsed_s;
        worker->wait_s = fmax(0, there_s - worker->compute_s);
        figures->compute_s += worker->compute_s;
    }
    const double capacity_s = figures->elapsed_s * figures->workers;
    figures->efficiency = capacity_s > 0 ? figures->compute_s / capacity_s : NAN;
    figures->recalls = figures->reasons[TRACE_RECALLED];
    figures->reissued = figures->reasons[TRACE_REQUEUED];
    figures_finish(figures);
    figures_merit(figures);
    return figures_quantiles(figures, trace, error);
}

/* --- of a report --- */

static void take_report_text(char **to, const json_t *object, const char *key, const char *inner)
{
    const json_t *value = json_object_get(object, key);
    const char *text = json_string_value(inner != NULL ? json_object_get(value, inner) : value);
    char *copy = text != NULL ? strdup(text) : NULL;
    if (copy == NULL)
        return;
    free(*to);
    *to = copy;
}

static void take_number(double *to, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_number(value))
        *to = json_number_value(value);
}

static void take_whole(uint64_t *to, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_integer(value) && json_integer_value(value) >= 0)
        *to = (uint64_t)json_integer_value(value);
}

static void take_small(unsigned *to, const json_t *object, const char *key)
{
    uint64_t value = *to;
    take_whole(&value, object, key);
    *to = value < UINT32_MAX ? (unsigned)value : *to;
}

static int by_node(const void *a, const void *b)
{
    const struct figures_worker *x = a, *y = b;
    return x->node != y->node ? (x->node > y->node) - (x->node < y->node) : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Takes the workers of a report where no trace has told of them. */
static int make_workers(struct figures *figures, const json_t *list, struct error *error)
{
    const size_t count = json_array_size(list);
    figures->worker_stats = calloc(count + 1, sizeof *figures->worker_stats);
    if (figures->worker_stats == NULL)
        return figures_no_memory(error);
    figures->workers = (unsigned)count;
    for (size_t i = 0; i < count; i++) {
        struct figures_worker *worker = &figures->worker_stats[i];
        const json_t *object = json_array_get(list, i);
        take_small(&worker->rank, object, "rank");
        take_small(&worker->node, object, "node");
        take_small(&worker->master, object, "master");
    }
    qsort(figures->worker_stats, count, sizeof *figures->worker_stats, by_node);
    return 0;
}

/* The worker of that rank, or NULL. */
static struct figures_worker *find_figures_worker(struct figures *figures, uint64_t rank)
{
    for (unsigned i = 0; i < figures->workers; i++)
        if (figures->worker_stats[i].rank == rank)
            return &figures->worker_stats[i];
    return NULL;
}

static int take_workers(struct figures *figures, const json_t *list, struct error *error)
{
    if (figures->worker_stats == NULL && make_workers(figures, list, error) < 0)
        return -1;
    if (json_array_size(list) != figures->workers)
        return error_set(error, "it tells of %zu workers, and the trace of %u: they are of different runs",
                         json_array_size(list), figures->workers);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *object = json_array_get(list, i);
        uint64_t rank = TRACE_UNKNOWN;
        take_whole(&rank, object, "rank");
        struct figures_worker *worker = find_figures_worker(figures, rank);
        if (rank == TRACE_UNKNOWN)
            return error_set(error, "an entry of \"worker_stats\" has no rank");
        if (worker == NULL)
            return error_set(error,
                             "it tells of worker %lld, which the trace does not know: they are of different runs",
                             (long long)rank);
        take_number(&worker->power, object, "power");
        take_whole(&worker->iterations, object, "iterations");
        take_whole(&worker->chunks, object, "chunks");
        take_number(&worker->compute_s, object, "compute_s");
        take_number(&worker->wait_s, object, "wait_s");
        take_number(&worker->finish_s, object, "finish_s");
    }
    return 0;
}

static uint64_t sum_ranges(const json_t *list)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *count = json_array_get(json_array_get(list, i), 1);
        sum += json_is_integer(count) && json_integer_value(count) > 0 ? (uint64_t)json_integer_value(count) : 0;
    }
    return sum;
}

/* By the time, those without one last. */
static int by_prediction(const void *a, const void *b)
{
    const struct figures_prediction *x = a, *y = b;
    const double p = isnan(x->predicted_s) ? INFINITY : x->predicted_s;
    const double q = isnan(y->predicted_s) ? INFINITY : y->predicted_s;
    return p != q ? (p > q) - (p < q) : strcmp(x->technique, y->technique);
}

/* Takes what `auto` predicted of each technique. */
static int take_predictions(struct figures *figures, const json_t *report, struct error *error)
{
    const json_t *told = json_object_get(json_object_get(report, "technique"), "auto");
    const json_t *steps = json_object_get(report, "steps");
    json_t *list = json_object_get(told, "predicted_s");
    const char *name;
    json_t *value;
    if (json_object_size(list) == 0)
        return 0;
    figures->predicted.iterations = TRACE_UNKNOWN;
    take_whole(&figures->predicted.decisions, told, "decisions");
    take_whole(&figures->predicted.iterations, told, "iterations");
    figures->predicted.time_steps = json_array_size(steps);
    if (figures->predicted.time_steps > 0)
        take_number(&figures->predicted.last_step_s, json_array_get(steps, figures->predicted.time_steps - 1),
                    "elapsed_s");
    figures->predicted.list = calloc(json_object_size(list), sizeof *figures->predicted.list);
    if (figures->predicted.list == NULL)
        return figures_no_memory(error);
    json_object_foreach(list, name, value)
    {
        struct figures_prediction *prediction = &figures->predicted.list[figures->predicted.count];
        const double predicted_s = json_number_value(value);
        prediction->technique = strdup(name);
        prediction->predicted_s = predicted_s > 0 && predicted_s < TRACE_TIME_MAX ? predicted_s : NAN;
        if (prediction->technique == NULL)
            return figures_no_memory(error);
        figures->predicted.count++;
    }
    qsort(figures->predicted.list, figures->predicted.count, sizeof *figures->predicted.list, by_prediction);
    return 0;
}

bool figures_report_is_simulated(const json_t *report)
{
    return json_is_object(json_object_get(report, "simulated"));
}

static void take_simulation(struct figures *figures, const json_t *report)
{
    const json_t *told = json_object_get(report, "simulated"), *elapsed = json_object_get(told, "elapsed_s");
    figures->is_simulated = figures_report_is_simulated(report);
    take_report_text(&figures->simulation.backend, told, "backend", NULL);
    take_report_text(&figures->simulation.platform, told, "platform", NULL);
    take_whole(&figures->simulation.repetitions, told, "repetitions");
    take_number(&figures->simulation.least_s, elapsed, "least");
    take_number(&figures->simulation.most_s, elapsed, "most");
}

int figures_of_report(struct figures *figures, const json_t *report, struct error *error)
{
    const json_t *workers = json_object_get(report, "worker_stats"), *faults = json_object_get(report, "faults"),
                 *recalls = json_object_get(report, "recalls"), *imbalance = json_object_get(report, "imbalance"),
                 *busy = json_object_get(report, "busy");
    if (!json_is_string(json_object_get(report, "hdss")) || !json_is_array(workers))
        return error_set(error, "it is no report of a run: it has no \"hdss\" and no \"worker_stats\"");
    if (take_workers(figures, workers, error) < 0)
        return -1;
    figures->has_report = true;
    take_report_text(&figures->version, report, "hdss", NULL);
    take_report_text(&figures->kernel, report, "kernel", "name");
    take_report_text(&figures->technique, report, "technique", "name");
    take_report_text(&figures->topology, report, "topology", NULL);
    take_report_text(&figures->outcome, report, "outcome", NULL);
    take_report_text(&figures->origin, report, "started_at", NULL);
    take_report_text(&figures->checksum, report, "checksum", NULL);
    take_whole(&figures->iterations, report, "iterations");
    take_whole(&figures->done, report, "done");
    take_small(&figures->masters, report, "masters");
    take_small(&figures->nodes, report, "nodes");
    take_number(&figures->elapsed_s, report, "elapsed_s");
    take_number(&figures->startup_s, report, "startup_s");
    take_number(&figures->compute_s, report, "compute_s");
    take_number(&figures->efficiency, report, "efficiency");
    take_number(&figures->max_over_mean, imbalance, "max_over_mean");
    take_number(&figures->cov, imbalance, "cov");
    take_number(&figures->percent, imbalance, "percent");
    take_number(&figures->busy_percent, busy, "percent");
    take_number(&figures->busy_cov, busy, "cov");
    take_number(&figures->cost_s, report, "cost_s");
    take_number(&figures->scheduling_s, report, "scheduling_s");
    take_number(&figures->idle_s, report, "idle_s");
    take_whole(&figures->chunks, report, "chunks");
    take_whole(&figures->messages, report, "messages");
    take_whole(&figures->bytes_on_wire, report, "bytes_on_wire");
    take_whole(&figures->refills, report, "refills");
    take_whole(&figures->lost_workers, faults, "lost_workers");
    take_whole(&figures->reissued, faults, "reissued_chunks");
    take_whole(&figures->duplicates, faults, "duplicate_results");
    take_whole(&figures->resumed, faults, "resumed_iterations");
    take_whole(&figures->recalls, recalls, "count");
    take_whole(&figures->recalled_iterations, recalls, "iterations");
    figures->failed_iterations =
        sum_ranges(json_object_get(report, "failed")) + sum_ranges(json_object_get(report, "failed_tasks"));
    take_simulation(figures, report);
    return take_predictions(figures, report, error);
}
