/* The derived figures of a report: see report.h. */
#include "common/metrics/report.h"
#include "common/util/stats.h"

const char *report_topology_name(enum report_topology topology)
{
    static const char *const names[] = {"hierarchical", "central", "dca-two-sided", "dca-rma", "dca-node"};
    return names[topology];
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
}
