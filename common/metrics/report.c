/* SPDX-License-Identifier: MIT */
/* The derived figures of a report: see report.h. */
#include "common/metrics/report.h"
#include "common/util/stats.h"

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

/* Makes efficiency and overhead those of the cores, where workers share some. */
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

/* The computing time of the iterations that moved, had each taken the mean of all that are known. 0: none is known. */
static double compute_worth_of_recalls(const struct report *report)
{
    double iterations = 0, compute_s = 0;
    for (unsigned i = 0; i < report->workers; i++) {
        const struct report_worker *worker = &report->worker_stats[i];
        if (worker->compute_s <= 0)
            continue; /* lost, or without work */
        iterations += (double)worker->iterations;
        compute_s += worker->compute_s * threads_of(worker);
    }
    return iterations > 0 ? (double)report->recalls.iterations * compute_s / iterations : 0;
}

/* The time that a worker could have computed: one that has joined only while it was there, and not at all where it is
 * lost, as then it is not known what it has done. */
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

void report_compute(struct report *report)
{
    struct stats compute, finish;
    stats_init(&compute);
    stats_init(&finish);
    for (unsigned i = 0; i < report->workers; i++) {
        stats_add(&compute, report->worker_stats[i].compute_s);
        if (!report->worker_stats[i].is_of_pod || !report->worker_stats[i].has_left)
            stats_add(&finish, report->worker_stats[i].finish_s);
    }
    const double capacity_s = report_capacity_s(report);
    report->compute_s = compute.sum;
    report->overhead_s = report->workers > 0 ? (capacity_s - compute.sum) / report->workers : 0;
    report->efficiency = capacity_s > 0 ? compute.sum / capacity_s : 0;
    report->imbalance.max_over_mean = finish.mean > 0 ? finish.maximum / finish.mean : 1;
    report->imbalance.cov = stats_cov(&finish);
    report->recalls.worth_s = compute_worth_of_recalls(report);
    compute_thread_level(report);
    compute_shared(report);
}
