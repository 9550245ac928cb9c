/* What the supermaster knows at the end, as a report. */
#include "supermaster/figures.h"

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static bool learns_weights(const struct supermaster *supermaster)
{
    return supermaster->sched_ready && supermaster->sched.technique->weight != NULL;
}

static void fill_worker(const struct supermaster *supermaster, unsigned w, struct report_worker *row)
{
    const struct topology *topology = supermaster->config.topology;
    const struct worker_figures *figures = &supermaster->figures[w];
    *row = (struct report_worker){
        .rank = topology->worker_rank[w],
        .node = topology->worker_node[w],
        .master = topology->masters > 0 ? topology->master_rank[topology->master_of[w]] : topology->supermaster,
        .power = supermaster->powers[w],
        .weight = learns_weights(supermaster) ? sched_weight(&supermaster->sched, w) : 0,
        .iterations = figures->iterations,
        .chunks = figures->chunks,
        .compute_s = seconds(figures->compute_ns),
        .wait_s = seconds(figures->wait_ns),
        .finish_s = seconds(figures->finish_ns),
    };
}

void supermaster_fill_report(const struct supermaster *supermaster, struct report *report, struct report_worker *rows)
{
    const struct topology *topology = supermaster->config.topology;
    for (unsigned w = 0; w < topology->workers; w++)
        fill_worker(supermaster, w, &rows[w]);
    report->topology = topology->masters > 0 ? REPORT_HIERARCHICAL : REPORT_CENTRAL;
    report->technique = supermaster->sched_ready ? &supermaster->sched.spec : &supermaster->config.technique;
    report->choice = supermaster->sched_ready && supermaster->chooser != NULL ? &supermaster->chooser->choice : NULL;
    report->measured_count = supermaster->sched_ready ? sched_values_used(&supermaster->sched, report->measured) : 0;
    report->weighting = supermaster->config.weighting;
    report->min_chunk = supermaster->config.min_chunk;
    report->first = supermaster->config.first;
    report->iterations = supermaster->config.count;
    report->masters = topology->masters;
    report->workers = topology->workers;
    report->nodes = topology->nodes;
    if (supermaster->first_assign_ns != NEVER && supermaster->last_commit_ns != NEVER)
        report->elapsed_s = seconds(supermaster->last_commit_ns - supermaster->first_assign_ns);
    report->chunks = supermaster->chunks;
    report->refills = supermaster->refills;
    report->messages = supermaster->messages;
    report->bytes_on_wire = supermaster->bytes;
    report->checksum = supermaster->ledger.digest;
    report->faults.duplicate_results = supermaster->duplicates;
    report->worker_stats = rows;
    report->done = supermaster->ledger.done;
    report->failure = supermaster->failure.text;
    report->outcome = supermaster->failure.text[0] != '\0'            ? REPORT_FAILED
                      : supermaster->ledger.done < report->iterations ? REPORT_DRAINED
                                                                      : REPORT_DONE;
}
