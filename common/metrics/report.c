/* SPDX-License-Identifier: MIT */
/* Derived figures of a report: see report.h. */
#include "common/metrics/report.h"
#include "common/util/stats.h"

#include <math.h>

const char *report_topology_name(enum report_topology topology)
{
    static const char *const names[] = {"hierarchical", "central", "dca-two-sided", "dca-rma", "dca-node"};
    return names[topology];
}

static void compute_thread_level(struct report *report)
{
    struct stats ratio, cov;
    stats_init(&ratio);
    stats_init(&cov);
    report->thread_level.threads = 0;
    report->thread_level.chunks = 0;
    for (unsigned w = 0; w < report->workers; w++) {
        const struct report_worker *worker = &report->worker_stats[w];
        if (worker->threads == 0)
            continue;
        report->thread_level.threads += worker->threads;
        report->thread_level.chunks += worker->thread_chunks;
        stats_add(&ratio, worker->thread_max_over_mean);
        stats_add(&cov, worker->thread_cov);
    }
    report->thread_level.max_over_mean = ratio.count > 0 ? ratio.mean : 1;
    report->thread_level.cov = cov.count > 0 ? cov.mean : 0;
}

static double threads_of(const struct report_worker *worker)
{
    return worker->threads > 0 ? worker->threads : 1;
}

double report_computing_s(const struct report_worker *worker)
{
    double on_core_s = worker->processor_s / threads_of(worker);
    return worker->cores > 0 && on_core_s < worker->compute_s ? on_core_s : worker->compute_s;
}

static void compute_shared(struct report *report)
{
    bool any = false;
    report->shared.cores = report->shared.compute_s = 0;
    for (unsigned i = 0; i < report->workers && !any; i++)
        any = report->worker_stats[i].cores > 0;
    for (unsigned i = 0; i < report->workers && any; i++) {
        const struct report_worker *worker = &report->worker_stats[i];
        report->shared.cores += worker->cores > 0 ? worker->cores : threads_of(worker);
        report->shared.compute_s += report_computing_s(worker) * threads_of(worker);
    }
    if (!any || report->elapsed_s <= 0)
        return;
    report->overhead_s = report->elapsed_s - report->shared.compute_s / report->shared.cores;
    report->efficiency = report->shared.compute_s / (report->elapsed_s * report->shared.cores);
}

static double compute_worth_of_recalls(const struct report *report)
{
    double iterations = 0, compute_s = 0;
    for (unsigned i = 0; i < report->workers; i++) {
        const struct report_worker *worker = &report->worker_stats[i];
        if (worker->compute_s <= 0)
            continue;
        iterations += (double)worker->iterations;
        compute_s += worker->compute_s * threads_of(worker);
    }
    return iterations > 0 ? (double)report->recalls.iterations * compute_s / iterations : 0;
}

/* Returns the time in which a worker could have computed. For a worker of the launch this is the time of the run. For a
 * worker of a pod it is the time of the worker's presence; it is 0 if the worker has left and none of its chunks are
 * known. */
static double worker_capacity_s(const struct report *report, const struct report_worker *worker)
{
    if (!worker->is_of_pod)
        return report->elapsed_s;
    return worker->has_left && worker->chunks == 0 ? 0 : worker->presence_s;
}

static double report_capacity_s(const struct report *report)
{
    double capacity_s = 0;
    for (unsigned i = 0; i < report->workers; i++)
        capacity_s += worker_capacity_s(report, &report->worker_stats[i]);
    return capacity_s;
}

static struct report_spread spread_of(const struct stats *times)
{
    struct report_spread spread = {.max_over_mean = 1, .cov = stats_cov(times)};
    if (times->count == 0 || times->mean <= 0)
        return spread;
    spread.max_over_mean = times->maximum / times->mean;
    spread.excess = spread.max_over_mean - 1;
    if (times->count > 1) {
        const double count = (double)times->count;
        spread.percent = 100 * (1 - times->mean / times->maximum) * count / (count - 1);
    }
    return spread;
}

/* Returns the cost: elapsed time times the number of threads. If threads share cores, the cost is elapsed time times
 * the number of cores (Grama et al. 2003). */
static double compute_cost(const struct report *report)
{
    double cost_s = 0;
    if (report->shared.cores > 0)
        return report->elapsed_s * report->shared.cores;
    for (unsigned i = 0; i < report->workers; i++)
        cost_s += worker_capacity_s(report, &report->worker_stats[i]) * threads_of(&report->worker_stats[i]);
    return cost_s;
}

static void compute_parts_of_overhead(struct report *report)
{
    struct stats scheduling, idle;
    stats_init(&scheduling);
    stats_init(&idle);
    for (unsigned i = 0; i < report->workers; i++) {
        const struct report_worker *worker = &report->worker_stats[i];
        if (worker->has_left)
            continue;
        const double joined_s = worker->is_of_pod ? fmax(0, report->elapsed_s - worker->presence_s) : 0;
        const double until_s = fmin(fmax(worker->finish_s, joined_s), report->elapsed_s);
        stats_add(&scheduling, fmax(0, until_s - joined_s - worker->compute_s));
        stats_add(&idle, report->elapsed_s - until_s);
    }
    report->scheduling_s = scheduling.mean;
    report->idle_s = idle.mean;
}

void report_compute(struct report *report)
{
    struct stats compute, finish, busy;
    stats_init(&compute);
    stats_init(&finish);
    stats_init(&busy);
    for (unsigned i = 0; i < report->workers; i++) {
        stats_add(&compute, report->worker_stats[i].compute_s);
        if (report->worker_stats[i].has_left)
            continue;
        stats_add(&finish, report->worker_stats[i].finish_s);
        stats_add(&busy, report_computing_s(&report->worker_stats[i]));
    }
    const double capacity_s = report_capacity_s(report);
    report->compute_s = compute.sum;
    report->overhead_s = report->workers > 0 ? (capacity_s - compute.sum) / report->workers : 0;
    report->efficiency = capacity_s > 0 ? compute.sum / capacity_s : 0;
    report->imbalance = spread_of(&finish);
    report->busy = spread_of(&busy);
    report->recalls.worth_s = compute_worth_of_recalls(report);
    compute_thread_level(report);
    compute_shared(report);
    compute_parts_of_overhead(report);
    report->cost_s = compute_cost(report);
}
