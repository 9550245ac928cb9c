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

void report_compute(struct report *report)
{
    struct stats compute, finish;
    stats_init(&compute);
    stats_init(&finish);
    for (unsigned i = 0; i < report->workers; i++) {
        stats_add(&compute, report->worker_stats[i].compute_s);
        stats_add(&finish, report->worker_stats[i].finish_s);
    }
    double capacity_s = report->elapsed_s * report->workers;
    report->compute_s = compute.sum;
    report->overhead_s = report->elapsed_s - compute.mean;
    report->efficiency = capacity_s > 0 ? compute.sum / capacity_s : 0;
    report->imbalance.max_over_mean = finish.mean > 0 ? finish.maximum / finish.mean : 1;
    report->imbalance.cov = stats_cov(&finish);
    compute_thread_level(report);
}
